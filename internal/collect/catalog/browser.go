package catalog

// browsers are programs that a connector can drive, by the names under which they
// are installed.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// FindBrowser returns the browser of this machine that connectors can use, or "". lookPath finds a program on the
// search path.
func FindBrowser(lookPath func(program string) (string, error)) (program string, ok bool) {
	for _, program := range browsers {
		if _, err := lookPath(program); err == nil {
			return program, true
		}
	}
	return "", false
}
