package main

import (
	"regexp"
	"testing"

	"github.com/spf13/cobra"
)

// No command manages the life of a browser on a device either.
func TestNoBrowserDaemon(t *testing.T) {
	t.Attr("spec", "RT-03.1")
	daemon := regexp.MustCompile(`(?i)browser[ -](start|stop|status|restart|logs|bootstrap|probe|daemon)\b|\b(start|` +
		`stop|restart|bootstrap|probe)[ -]browser\b`)
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		seen++
		if text := c.Short + "\n" + c.Long + "\n" + c.UsageString(); c.Name() == "browser" || daemon.MatchString(text) {
			t.Errorf("%s: %q", c.CommandPath(), daemon.FindString(text))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	if walk((&program{}).rootCommand()); seen < 8 {
		t.Errorf("only %d commands were looked at", seen)
	}
	for _, word := range []string{"start", "stop", "status", "restart", "logs", "bootstrap", "probe"} {
		if code := execute(t.Context(), world{args: []string{"browser", word}, stdout: t.Output(), stderr: t.Output(),
			lookup: func(string) (string, bool) { return "", false }}); code != exitUsage {
			t.Errorf("browser %s ended with %d", word, code)
		}
	}
}
