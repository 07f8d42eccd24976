package archtest

import (
	"regexp"
	"testing"
)

// No document refers to a shared browser that is kept running, to a debugging port, or to a file
// that leads to one.
func TestDocumentsKnowNoBrowserDaemon(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-03.2")
	daemon := regexp.MustCompile(`(?i)browser[- ]daemon|browser-daemon\.json|remote-debugging-port|browser (start|` +
		`stop|status|restart|logs|bootstrap|probe)\b`)
	if !daemon.MatchString("run pdpp browser start once") || !daemon.MatchString("the browser daemon") {
		t.Error("it would not be found")
	}
	names := documents(t)
	for _, name := range names {
		if found := daemon.FindString(readDocument(t, name)); found != "" {
			t.Errorf("%s mentions %q", name, found)
		}
	}
	if len(names) < 50 {
		t.Errorf("only %d documents were read", len(names))
	}
}
