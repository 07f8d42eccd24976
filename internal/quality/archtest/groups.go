package archtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Group is a folder of internal with rooms that share one part of the work, or a single room
// directly in internal.
type Group struct {
	Name   string
	Rooms  []string // the folders in it; none for a single room
	May    []string // other groups that its rooms may use
	Reason string
}

// Groups is the first look at internal: from facts up to what people hold in their
// hands. A group uses those above it that it names, so that there is no circle.
var Groups = []Group{
	{Name: "ops", Rooms: []string{"disk", "filelock", "logging", "metrics", "redact", "releasefile", "systemservice",
		"text", "tracing", "usererr"},
		Reason: "what a running program says, and how, knows nothing of what it does"},
	{Name: "judge", Rooms: []string{"attention", "cadence", "evidence", "health", "verdict"}, May: []string{"ops"},
		Reason: "a judgement follows from facts alone, so that it can be repeated anywhere"},
	{Name: "slice",
		Reason: "what one commit makes durable has one form, whoever fills it and wherever it is kept"},
	{Name: "blob", May: []string{"ops"},
		Reason: "files are kept by their content, whoever refers to them and on whichever machine"},
	{Name: "storage", Rooms: []string{"audit", "backup", "credential", "rowsum", "store", "transfer"},
		May:    []string{"blob", "judge", "ops", "slice"},
		Reason: "what is kept has the form in which it is judged, and keeping takes secrets out of text"},
	{Name: "collect", Rooms: []string{"blobfile", "browser", "catalog", "childprocess", "interaction", "launch",
		"providerauth", "readiness", "runner", "sharedquota"}, May: []string{"blob", "judge", "storage", "ops", "slice"},
		Reason: "one run commits into the store and leaves evidence; when it happens is decided elsewhere"},
	{Name: "view", May: []string{"judge"},
		Reason: "the only road to a verdict reads evidence through an interface of its own"},
	{Name: "schedule", Rooms: []string{"notify", "repair", "scheduler"},
		May:    []string{"collect", "judge", "storage", "ops", "view"},
		Reason: "what happens by itself follows the facts, starts runs, and repeats verdicts to the owner"},
	{Name: "web", Rooms: []string{"auth", "reply", "server", "tokenqueue", "surface"}, May: []string{"storage", "ops"},
		Reason: "who asks, and how an answer looks, is the same whatever is asked for"},
	{Name: "share", Rooms: []string{"embedding", "grants", "mcp", "oauth", "readapi", "triggers", "webhooks"},
		May:    []string{"blob", "storage", "ops", "web"},
		Reason: "what clients read cannot be built from anything that judges or that is the owner's"},
	{Name: "device", Rooms: []string{"collector", "outbox", "service", "wire"},
		May:    []string{"blob", "collect", "ops", "slice"},
		Reason: "a device collects as a server does and has nothing of what a server keeps or judges"},
	{Name: "owner", Rooms: []string{"api", "assistant", "console", "diskuse", "export", "exportcount", "occurrences",
		"person", "routes", "runstreak", "semantic", "service", "thumbnail", "webhook", "words"},
		May:    []string{"blob", "collect", "device", "judge", "storage", "ops", "schedule", "share", "slice", "view", "web"},
		Reason: "an owner sees and steers every part, through one interface"},
	{Name: "deviceapi", May: []string{"blob", "collect", "device", "judge", "storage", "ops", "slice", "web"},
		Reason: "what devices send is taken as a run's findings are; of a device it knows the messages alone"},
	{Name: "doctor", May: []string{"blob", "collect", "storage", "ops"},
		Reason: "a check looks at the parts themselves, and needs none of those that may be broken above them"},
	{Name: "serve", May: []string{"blob", "collect", "deviceapi", "judge", "storage", "ops", "owner", "schedule", "share",
		"view", "web"},
		Reason: "a running server is all of its parts, and nothing of a device or of the command line"},
	{Name: "demo", May: []string{"blob", "collect", "judge", "storage", "owner", "slice"},
		Reason: "the demonstration plants a small world and writes its past as runs write it, and lets the shipped parts " +
			"show it"},
	{Name: "cli", May: []string{"blob", "collect", "demo", "doctor", "judge", "storage", "ops", "owner", "schedule",
		"serve", "view", "web"},
		Reason: "the commands are the owner's other surface, and start everything that runs here"},
	{Name: "quality", Rooms: []string{"archtest", "assistanttest", "browsertest", "chaostest", "consoletest",
		"crashtest", "devicetest", "filetest", "foreigntest", "goldentest", "leasemodel", "limitertest", "oidctest",
		"openapi", "outsidetest", "pagetest", "programs", "tools"},
		May: []string{"blob", "cli", "collect", "demo", "device", "deviceapi", "doctor", "judge", "storage", "ops",
			"owner", "schedule", "serve", "share", "slice", "view", "web"},
		Reason: "tests and tools may use every part, and no part may use them"},
}

// CheckGroups holds every import within internal to the table of groups, and every
// package to a group.
func CheckGroups(packages []Package, groups []Group) []Finding {
	var found []Finding
	for _, p := range packages {
		own, inside := groupOf(groups, p.Path)
		switch {
		case !strings.HasPrefix(p.Path, "internal/"):
			continue
		case !inside:
			found = append(found, Finding{p.Path, "is in no group",
				"internal has groups: find the one whose work this is, or argue for a new one in " +
					"internal/quality/archtest/groups.go"})
			continue
		}
		for _, f := range p.code() {
			for _, spec := range f.AST.Imports {
				path, _ := strings.CutPrefix(importPath(spec), modulePath+"/")
				other, ok := groupOf(groups, path)
				if ok && other.Name != own.Name && !slices.Contains(own.May, other.Name) {
					found = append(found, Finding{p.at(f, spec.Pos()),
						fmt.Sprintf("group %s uses %s of group %s", own.Name, path, other.Name), own.Reason})
				}
			}
		}
	}
	return found
}

// groupOf returns the group of a package below internal.
func groupOf(groups []Group, pkg string) (Group, bool) {
	rest, ok := strings.CutPrefix(pkg, "internal/")
	if !ok {
		return Group{}, false
	}
	name, rest, _ := strings.Cut(rest, "/")
	room, _, _ := strings.Cut(rest, "/")
	for _, g := range groups {
		if g.Name == name && (len(g.Rooms) == 0 || slices.Contains(g.Rooms, room)) {
			return g, true
		}
	}
	return Group{}, false
}

var mapLine = regexp.MustCompile(`(?m)^  ([a-z]+)/  +((?:[a-z]+ )*[a-z]+)?  +\S.*$`)

// DrawnGroups reads the map of internal from a document: a line per group that begins
// with two spaces and the folder, then its rooms, then what it is for.
func DrawnGroups(document string) map[string][]string {
	_, drawn, _ := strings.Cut(document, "\ninternal/\n")
	drawn, _, _ = strings.Cut(drawn, "```")
	out := map[string][]string{}
	for _, m := range mapLine.FindAllStringSubmatch(drawn, -1) {
		rooms := strings.Fields(m[2])
		slices.Sort(rooms)
		out[m[1]] = rooms
	}
	return out
}
