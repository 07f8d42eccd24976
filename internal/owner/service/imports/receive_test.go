package imports

import (
	"path/filepath"
	"strings"
	"testing"
)

// FuzzFileName checks that safeFileName returns a safe local name, and returns a safe name unchanged.
func FuzzFileName(f *testing.F) {
	for _, name := range []string{"a.zip", "../a", `..\..\b.csv`, ".", "", "\x00", strings.Repeat("ä", 300) + ".zip",
		"a." + strings.Repeat("b", 200), "con:", "\xff.zip"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, given string) {
		got := safeFileName(given)
		if got == "" || got == "." || got == ".." || len(got) > longestFileName || filepath.Base(got) != got ||
			strings.HasPrefix(got, ".") ||
			strings.ContainsAny(got, "/\\\x00\n\r:") || strings.ToValidUTF8(got, "") != got || !filepath.IsLocal(got) {
			t.Errorf("%q is called %q", given, got)
		}
		if safeFileName(got) != got {
			t.Errorf("%q is called %q, and then %q", given, got, safeFileName(got))
		}
	})
}
