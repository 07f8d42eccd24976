package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// No document sends anybody to a browser that is shared and kept running, nor to a debugging
// port or a file that leads to one.
func TestDocumentsKnowNoBrowserDaemon(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-03.2")
	daemon := regexp.MustCompile(`(?i)browser[- ]daemon|browser-daemon\.json|remote-debugging-port|browser (start|stop|status|restart|logs|bootstrap|probe)\b`)
	if !daemon.MatchString("run pdpp browser start once") || !daemon.MatchString("the browser daemon") {
		t.Error("it would not be found")
	}
	seen := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			if found := daemon.FindString(string(text)); found != "" {
				t.Errorf("%s speaks of %q", path, found)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d documents were looked at", seen)
	}
}
