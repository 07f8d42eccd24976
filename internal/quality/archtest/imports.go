package archtest

import (
	"fmt"
	"strings"
)

// Rule lists what one room may import.
type Rule struct {
	Room   string   // the packages it governs, as a pattern; the most specific one wins
	May    []string // packages of this module it may import, as patterns
	Never  []string // packages it must not import even if May allows them, or to state the reason
	Libs   []string // third-party modules it may import; nil means any, empty means none
	Reason string
}

// anything marks a room that may import every package of the module.
var anything = []string{"..."}

// onlyStd marks a room that uses only the standard library.
var onlyStd = []string{}

// Leaves are packages that every room of internal and every program may import without listing
// them. They import only the standard library, so they add no other dependency.
var Leaves = []string{"internal/ops/usererr", "internal/ops/text"}

// CheckImports holds every package to the rule of its room. Test files are free:
// a test may reach for whatever proves its point.
func CheckImports(packages []Package, table []Rule) []Finding {
	var found []Finding
	for _, p := range packages {
		rule, ok := ruleFor(table, p.Path)
		if !ok {
			found = append(found, Finding{p.Path, "is in no room of the import table",
				"a new package says what it may import: add a row to internal/quality/archtest/table.go"})
			continue
		}
		for _, f := range p.code() {
			for _, spec := range f.AST.Imports {
				if offence := rule.judge(p.Path, importPath(spec)); offence != "" {
					found = append(found, Finding{p.at(f, spec.Pos()), "package " + p.Path + " " + offence, rule.Reason})
				}
			}
		}
	}
	return found
}

// ruleFor picks the most specific rule for a package: the one that names it, or
// else the longest pattern that covers it.
func ruleFor(table []Rule, pkg string) (Rule, bool) {
	best, ok := Rule{}, false
	for _, r := range table {
		if r.Room == pkg {
			return r, true
		}
		if matches(r.Room, pkg) && (!ok || len(r.Room) > len(best.Room)) {
			best, ok = r, true
		}
	}
	return best, ok
}

// judge returns what is wrong with one import, or "".
func (r Rule) judge(from, imported string) string {
	own, isOwn := strings.CutPrefix(imported, modulePath+"/")
	switch {
	case isOwn && matchesAny(r.Never, own):
		return "must never import " + own
	case isOwn && matchesAny(Leaves, own) && (strings.HasPrefix(from, "internal/") || strings.HasPrefix(from, "cmd/")):
		return ""
	case isOwn && isTestSupport(own) && !isTestSupport(from) && !isDeveloperTool(from):
		return "imports " + own + ", which is test support and only for _test.go files"
	case isOwn && !matchesAny(r.May, own) && !r.mayAnything():
		return fmt.Sprintf("imports %s; it may import only %s", own, orNothing(r.May))
	case !isOwn && isThirdParty(imported) && r.Libs != nil && !matchesAny(r.Libs, imported):
		return fmt.Sprintf("imports the library %s; it may use the standard library and %s", imported, orNothing(r.Libs))
	}
	return ""
}

func (r Rule) mayAnything() bool {
	return len(r.May) == 1 && r.May[0] == anything[0]
}

// isThirdParty reports whether an import path has a dot in its host, unlike the standard library.
func isThirdParty(imported string) bool {
	host, _, _ := strings.Cut(imported, "/")
	return strings.Contains(host, ".")
}

// isTestSupport names the packages that exist for tests only.
func isTestSupport(pkg string) bool {
	return matchesAny([]string{"connectorkit/connectortest/...", "governor/internal/quickcheck",
		"internal/storage/store/storetest/...", "internal/storage/store/postgres/postgrestest/...",
		"internal/storage/store/sqlite/sqlitetest/...", "internal/quality/limitertest/...", "internal/quality/oidctest/...",
		"internal/quality/programs/...", "internal/owner/service/ownertest/..."}, pkg)
}

// isDeveloperTool names the programs that are run in the repository and never shipped.
func isDeveloperTool(pkg string) bool {
	return matches("internal/quality/tools/...", pkg)
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing else"
	}
	return strings.Join(list, ", ")
}
