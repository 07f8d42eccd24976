package bookmarks

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// bookmarkDifference is one member of a bookmark that differs between two commits. An empty side means that the member
// is absent there.
type bookmarkDifference struct {
	Path string         `json:"path"`
	From jsontext.Value `json:"from,omitzero"`
	To   jsontext.Value `json:"to,omitzero"`
}

func newStateDiffCommand(inv *command.Invocation) *cobra.Command {
	var b bookmarkFlags
	cmd := &cobra.Command{
		Use: "diff STREAM FROM TO", Short: "Compare two commits of a bookmark",
		Args:    arguments.Required("the name of a stream", "the first commit", "the second commit"),
		PreRunE: b.checkMode,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			id, log, err := readBookmarkLog(ctx, inv, o, b, args[0], arguments.HighestLimit)
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
			printDifferences(inv, from, to)
			return nil
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
	b.declareMode(cmd)
	return cmd
}

func printDifferences(inv *command.Invocation, from, to api.BookmarkCommit) {
	changed := compareValues("", jsontext.Value(from.Cursor), jsontext.Value(to.Cursor))
	if inv.JSON {
		output.WriteJSON(inv.Out, map[string]any{"from": from, "to": to, "differences": changed})
		return
	}
	output.Printf(inv.Out, "from commit %d (%s) to commit %d (%s), %+d changes of records\n",
		from.Commit, output.FormatTime(from.At), to.Commit, output.FormatTime(to.At), to.StreamSeq-from.StreamSeq)
	if len(changed) == 0 {
		output.Printf(inv.Out, "The bookmark is the same.\n")
	}
	for _, d := range changed {
		path := d.Path
		if path == "" {
			path = "(whole)"
		}
		output.Printf(inv.Out, "  %s\n", output.SingleLine(path))
		output.Printf(inv.Out, "    - %s\n    + %s\n", formatSide(d.From), formatSide(d.To))
	}
}

func formatSide(v jsontext.Value) string {
	if len(v) == 0 {
		return "(absent)"
	}
	return output.SingleLine(string(v))
}

// compareValues compares objects member by member, and other values as a whole.
func compareValues(path string, from, to jsontext.Value) []bookmarkDifference {
	if from.Kind() != '{' || to.Kind() != '{' {
		if equalJSON(from, to) {
			return nil
		}
		return []bookmarkDifference{{path, from, to}}
	}
	var left, right map[string]jsontext.Value
	if json.Unmarshal(from, &left) != nil || json.Unmarshal(to, &right) != nil {
		return []bookmarkDifference{{path, from, to}}
	}
	both := map[string]bool{}
	for name := range left {
		both[name] = true
	}
	for name := range right {
		both[name] = true
	}
	var out []bookmarkDifference
	for _, name := range slices.Sorted(maps.Keys(both)) {
		out = append(out, compareValues(fmt.Sprintf("%s/%s", path, name), left[name], right[name])...)
	}
	return out
}

// equalJSON compares two values without regard to spacing and the order of members.
func equalJSON(a, b jsontext.Value) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	x, y := a.Clone(), b.Clone()
	if x.Canonicalize() != nil || y.Canonicalize() != nil {
		return string(a) == string(b)
	}
	return string(x) == string(y)
}
