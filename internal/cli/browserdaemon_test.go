package cli

import (
	"regexp"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// An owner manages no browser process: the help names no such command, and none exists.
func TestNoBrowserDaemon(t *testing.T) {
	t.Attr("spec", "RT-03.1")
	daemon := regexp.MustCompile(`(?i)browser[ -](start|stop|status|restart|logs|bootstrap|probe|daemon)\b|\b(start|` +
		`stop|restart|bootstrap|probe)[ -]browser\b`)
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		seen++
		if text := c.Short + "\n" + c.Long + "\n" + c.Example + "\n" + c.UsageString(); c.Name() == "browser" ||
			daemon.MatchString(text) {
			t.Errorf("%s: %q", c.CommandPath(), daemon.FindString(text))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	if walk(newRootCommand(&command.Invocation{})); seen < 60 {
		t.Errorf("only %d commands were looked at", seen)
	}
	for _, word := range []string{"start", "stop", "status", "restart", "logs", "bootstrap", "probe"} {
		env, out, errOut := testEnvironment(t, map[string]string{"HOME": t.TempDir()}, "browser", word)
		if exit := Main(env); exit != failure.ExitUsage || out.Len() > 0 || errOut.Len() == 0 {
			t.Errorf("browser %s: exit %d, %s%s", word, exit, out, errOut)
		}
	}
}
