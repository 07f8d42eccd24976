package archtest

import "testing"

func TestSharedNames(t *testing.T) {
	t.Parallel()
	var packages []Package
	for _, at := range []string{"internal/a", "internal/b", "internal/c"} {
		packages = append(packages, pkg(t, at, "package p\n\ntype Item struct{}\n\nfunc New() {}\n\nfunc (Item) Name() {}\n"))
	}
	packages = append(packages, pkg(t, "providersim/d", "package p\n\nvar Item int\n"))
	wantOffences(t, CheckSharedNames(packages, 0))
	packages = append(packages,
		pkg(t, "internal/e", "package p\n\nvar (\n\t_ int\n\tItem int\n)\n\nfunc New() {}\n\nfunc Name() {}\n"))
	wantOffences(t, CheckSharedNames(packages, 0), "all declare Item: 1 names are shared so, at most 0 are allowed")
	wantOffences(t, CheckSharedNames(packages, 1))
}
