package records

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// change is one member that differs between two versions. An empty side means that the member is missing.
type change struct {
	Path     string
	From, To string
}

// step is one version in the history of a record.
type step struct {
	At      time.Time
	Event   string // what happened
	Changes []change
	More    int // changes that are not listed
}

const (
	mostChanges  = 40
	deepestPath  = 4
	versionsKept = 50 // the most that Owner.Record returns
)

// history returns what each version changed, newest first.
func history(now api.Record, earlier []api.Record) []step {
	versions := []api.Record{now}
	for _, v := range earlier {
		if v.Version != now.Version {
			versions = append(versions, v)
		}
	}
	steps := make([]step, 0, len(versions))
	for i, v := range versions {
		s := step{At: v.ChangedAt}
		switch {
		case i == len(versions)-1 && len(earlier) >= versionsKept:
			s.Event = "Collected. Older versions are not shown"
		case i == len(versions)-1:
			s.Event = "First collected"
		case v.Deleted:
			s.Event = "Removed at the source; the last copy is kept below"
		case versions[i+1].Deleted:
			s.Event = "Came back at the source"
		default:
			s.Changes = differences(nil, "", versions[i+1].Data, v.Data, 0)
			if over := len(s.Changes) - mostChanges; over > 0 {
				s.Changes, s.More = s.Changes[:mostChanges], over
			}
			s.Event = changeWords(s.Changes)
		}
		steps = append(steps, s)
	}
	return steps
}

func changeWords(changes []change) string {
	switch len(changes) {
	case 0:
		return "Collected again without a change"
	case 1:
		return text.Name(changes[0].Path) + " changed"
	default:
		return text.Count(int64(len(changes)), "change", "changes")
	}
}

// differences compares objects member by member and everything else as a whole.
func differences(found []change, path string, from, to json.RawMessage, level int) []change {
	if bytes.Equal(from, to) {
		return found
	}
	var a, b map[string]json.RawMessage
	if level >= deepestPath || !isObject(from, &a) || !isObject(to, &b) {
		if sameJSON(from, to) {
			return found
		}
		return append(found, change{path, text.Cut(string(from), ui.LongestValue), text.Cut(string(to), ui.LongestValue)})
	}
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		below := name
		if path != "" {
			below = path + "." + name
		}
		found = differences(found, below, a[name], b[name], level+1)
	}
	return found
}

func isObject(data json.RawMessage, into *map[string]json.RawMessage) bool {
	return len(data) > 0 && data[0] == '{' && json.Unmarshal(data, into) == nil
}

// sameJSON reports whether two values differ in nothing but spaces.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
