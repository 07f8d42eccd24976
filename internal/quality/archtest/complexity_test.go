package archtest

import (
	"strings"
	"testing"
)

func TestComplexity(t *testing.T) {
	t.Parallel()
	body := func(branches int) string {
		return "package p\n\nfunc f(a, b bool) {\n" + strings.Repeat("\tif a {\n\t}\n", branches-4) +
			"\tfor a && b {\n\t}\n\tswitch {\n\tcase a:\n\tcase b:\n\tdefault:\n\t}\n}\n"
	}
	most := MaxComplexity - 1
	wantOffences(t, CheckComplexity([]Package{pkg(t, "internal/p", body(most))}))
	wantOffences(t, CheckComplexity([]Package{pkg(t, "internal/p", body(most+1))}),
		"f has 31 paths, at most 30 are allowed")
	wantOffences(t, CheckComplexity([]Package{pkg(t, "internal/p", "// p_test.go\n"+body(most+1))}))
	wantOffences(t, CheckComplexity([]Package{pkg(t, "providersim/p", body(most+1))}))
}
