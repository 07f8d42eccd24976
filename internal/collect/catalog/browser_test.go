package catalog

import (
	"os/exec"
	"testing"
)

func TestBrowser(t *testing.T) {
	for installed, want := range map[string]string{"": "", "firefox": "", "chromium": "chromium",
		"google-chrome-stable": "google-chrome-stable"} {
		got, ok := FindBrowser(func(program string) (string, error) {
			if program == installed {
				return "/usr/bin/" + program, nil
			}
			return "", exec.ErrNotFound
		})
		if got != want || ok != (want != "") {
			t.Errorf("with %q: %q, %v", installed, got, ok)
		}
	}
}
