package browse

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// stream is a stream with what it declares of how it is shown.
type stream struct{ api.Stream }

func (s *stream) kind() manifest.DisplayKind { return manifest.DisplayKind(s.Display.Kind) }

// role is the field that plays a part; empty when none does.
func (s *stream) role(name string) string { return s.Display.Roles[name] }

// list is the address of all its records.
func (s *stream) list() string {
	return "/search?" + url.Values{"connection": {s.ConnectionID}, "stream": {s.Name}}.Encode()
}

// fields are all that play a part, and nothing else of a record is read.
func (s *stream) fields() []string {
	return slices.Sorted(maps.Values(s.Display.Roles))
}

// streams are those that there are, by connection and name.
type streams struct {
	all []stream
	of  map[[2]string]*stream
}

func (p *browsePages) streams(ctx context.Context) (*streams, error) {
	all, err := p.Owner.Streams(ctx, "")
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b api.Stream) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.ConnectionName), strings.ToLower(b.ConnectionName)),
			strings.Compare(a.ConnectionID, b.ConnectionID), strings.Compare(a.Label, b.Label))
	})
	out := &streams{of: map[[2]string]*stream{}}
	for _, s := range all {
		out.all = append(out.all, stream{s})
	}
	for i := range out.all {
		s := &out.all[i]
		out.of[[2]string{s.ConnectionID, s.Name}] = s
	}
	return out, nil
}

func (all *streams) find(connection, name string) *stream { return all.of[[2]string{connection, name}] }

// thing is a record with the fields of its stream's roles.
type thing struct {
	api.Record
	in     *stream
	values map[string]json.RawMessage
}

func (s *stream) thing(r api.Record) thing {
	t := thing{Record: r, in: s}
	_ = json.Unmarshal(r.Data, &t.values) // what is no object has no fields
	return t
}

// text returns the value of a role's field as text. It returns "" for missing values and for
// values that are not text.
func (t *thing) text(role string) string {
	raw := t.values[t.in.role(role)]
	switch {
	case len(raw) == 0 || string(raw) == "null" || raw[0] == '{':
		return ""
	case raw[0] == '"':
		var s string
		_ = json.Unmarshal(raw, &s)
		return s
	case raw[0] == '[':
		var list []string
		_ = json.Unmarshal(raw, &list)
		return strings.Join(list, ", ")
	}
	return string(raw)
}

// line is the same in one line that is not longer than most.
func (t *thing) line(role string, most int) string { return text.Cut(text.Line(t.text(role)), most) }

// number returns the value of a role's field, divided by the scale of the stream.
func (t *thing) number(role string) (float64, bool) {
	n, err := strconv.ParseFloat(t.text(role), 64)
	return n / float64(max(1, t.in.Display.Scale)), err == nil
}

const (
	longestTitle = 140
	longestNote  = 160
)

// title is what a record is called, or how its text begins.
func (t *thing) title() string {
	for _, role := range []string{"title", "text", "link"} {
		if line := strings.TrimSpace(t.line(role, longestTitle)); line != "" {
			return line
		}
	}
	return ""
}

// address is that of the record beside the list of its stream.
func (t *thing) address() string {
	return "/thing/" + ui.Segment(t.ConnectionID) + "/" + ui.Segment(t.Stream) + "/" + ui.Segment(t.Key)
}

// mostNames bounds how many names a page looks up.
const mostNames = 60

// names looks up what records are called that others refer to by their key.
type names struct {
	p     *browsePages
	ctx   context.Context
	all   *streams
	known map[[3]string]string
}

func (p *browsePages) names(ctx context.Context, all *streams) *names {
	return &names{p: p, ctx: ctx, all: all, known: map[[3]string]string{}}
}

// of is the name that the field of a role holds or refers to.
func (n *names) of(t *thing, role string) string {
	value := t.line(role, longestTitle)
	related, refers := t.in.Display.Related[role]
	if !refers || value == "" {
		return value
	}
	if name := n.title(t.ConnectionID, related, t.text(role)); name != "" {
		return name
	}
	return value
}

// title is what a record is called; empty when there is none, or too many were asked for.
func (n *names) title(connection, name, key string) string {
	at := [3]string{connection, name, key}
	n.learn([][3]string{at})
	return n.known[at]
}

// learn looks up what records are called, those of a stream at once, as far as it is not known yet.
func (n *names) learn(all [][3]string) {
	var asked [][3]string
	for _, at := range all {
		if _, known := n.known[at]; !known && len(n.known) < mostNames && n.all.find(at[0], at[1]) != nil {
			n.known[at] = ""
			asked = append(asked, at)
		}
	}
	var wanted []*titles
	for _, at := range asked {
		in := n.all.find(at[0], at[1])
		i := slices.IndexFunc(wanted, func(t *titles) bool { return t.in == in })
		if i < 0 {
			i, wanted = len(wanted), append(wanted, &titles{in: in, called: map[string]string{}})
		}
		wanted[i].keys = append(wanted[i].keys, at[2])
	}
	var looking errgroup.Group
	looking.SetLimit(readers)
	for _, t := range wanted {
		looking.Go(func() error {
			err := t.read(n.ctx, n.p.Owner)
			var known *api.Error
			if err != nil && !(errors.As(err, &known) && known.Status == http.StatusNotFound) {
				n.p.Log.WarnContext(n.ctx, "names could not be looked up", "error", err)
			}
			return nil
		})
	}
	_ = looking.Wait() // what could not be looked up has no name
	for _, t := range wanted {
		for key, title := range t.called {
			n.known[[3]string{t.in.ConnectionID, t.in.Name, key}] = title
		}
	}
}

// titles are what some records of a stream are called, by their keys.
type titles struct {
	in     *stream
	keys   []string
	called map[string]string
}

func (t *titles) read(ctx context.Context, from api.Owner) error {
	found, err := from.Records(ctx, api.RecordQuery{ConnectionID: t.in.ConnectionID, Stream: t.in.Name, Keys: t.keys,
		Limit: len(t.keys)})
	for _, r := range found.Records {
		named := t.in.thing(r)
		t.called[r.Key] = named.title()
	}
	return err
}
