package cli

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// difference is one member of a bookmark that is not the same in two commits.
// An empty side means that the member is absent there.
type difference struct {
	Path string         `json:"path"`
	From jsontext.Value `json:"from,omitzero"`
	To   jsontext.Value `json:"to,omitzero"`
}

func (a *app) stateDiffCommand() *cobra.Command {
	var b bookmark
	cmd := &cobra.Command{
		Use: "diff STREAM FROM TO", Short: "Compare two commits of a bookmark",
		Args:    needArgs("the name of a stream", "the first commit", "the second commit"),
		PreRunE: b.check,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			id, log, err := a.log(ctx, o, b, args[0], maxLimit)
			if err != nil {
				return err
			}
			from, err := findCommit(log, id, args[1])
			if err != nil {
				return err
			}
			to, err := findCommit(log, id, args[2])
			if err != nil {
				return err
			}
			a.printDiff(from, to)
			return nil
		}),
	}
	a.connectionFlag(cmd, "which connection")
	b.flag(cmd)
	return cmd
}

func (a *app) printDiff(from, to api.BookmarkCommit) {
	changed := diffValues("", jsontext.Value(from.Cursor), jsontext.Value(to.Cursor))
	if a.json {
		writeJSON(a.out, map[string]any{"from": from, "to": to, "differences": changed})
		return
	}
	printf(a.out, "from commit %d (%s) to commit %d (%s), %+d changes of records\n",
		from.Commit, when(from.At), to.Commit, when(to.At), to.StreamSeq-from.StreamSeq)
	if len(changed) == 0 {
		printf(a.out, "The bookmark is the same.\n")
	}
	for _, d := range changed {
		path := d.Path
		if path == "" {
			path = "(whole)"
		}
		printf(a.out, "  %s\n", oneLine(path))
		printf(a.out, "    - %s\n    + %s\n", side(d.From), side(d.To))
	}
}

func side(v jsontext.Value) string {
	if len(v) == 0 {
		return "(absent)"
	}
	return oneLine(string(v))
}

// diffValues compares objects member by member and everything else as a whole.
func diffValues(path string, from, to jsontext.Value) []difference {
	if from.Kind() != '{' || to.Kind() != '{' {
		if sameJSON(from, to) {
			return nil
		}
		return []difference{{path, from, to}}
	}
	var left, right map[string]jsontext.Value
	if json.Unmarshal(from, &left) != nil || json.Unmarshal(to, &right) != nil {
		return []difference{{path, from, to}}
	}
	both := map[string]bool{}
	for name := range left {
		both[name] = true
	}
	for name := range right {
		both[name] = true
	}
	var out []difference
	for _, name := range sortedKeys(both) {
		out = append(out, diffValues(fmt.Sprintf("%s/%s", path, name), left[name], right[name])...)
	}
	return out
}

// sameJSON compares without regard to spacing and the order of members.
func sameJSON(a, b jsontext.Value) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	x, y := a.Clone(), b.Clone()
	if x.Canonicalize() != nil || y.Canonicalize() != nil {
		return string(a) == string(b)
	}
	return string(x) == string(y)
}
