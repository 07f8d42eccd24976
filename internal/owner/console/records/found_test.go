package records

import (
	"strings"
	"testing"
)

func TestSnippet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("before ", 20) + "the Ferry lands, ferryman" + strings.Repeat(" after", 40)
	for line, want := range map[string]string{
		"Ferry landing":       "[Ferry] landing",
		"a ferry, a FERRY":    "a [ferry], a [FERRY]",
		"İstanbul, the ferry": "İstanbul, the [ferry]",
		"unferry":             "",
		long: "… " + strings.Repeat("before ", 8) + "the [Ferry] lands, [ferry]man" +
			strings.Repeat(" after", 20) + " aft …",
	} {
		got := ""
		for _, s := range snippet(line, soughtWords("“ferry”")) {
			if s.Mark {
				got += "[" + s.Text + "]"
			} else {
				got += s.Text
			}
		}
		if want != "" && !strings.HasPrefix(got, want[:min(len(want), 70)]) || want == "" && got != "" {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}
