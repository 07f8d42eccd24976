package things

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Readers is how many streams are read at a time: a database has the next answer ready while the last one is put into
// words.
const Readers = 3

// mostNames bounds how many names a page looks up.
const mostNames = 60

// Names looks up what records are called that others refer to by their key.
type Names struct {
	ctx   context.Context
	owner api.Records
	log   *slog.Logger
	all   *Streams
	known map[[3]string]string
}

// NewNames returns names that are looked up with the owner. Log gets the errors of lookups, which cause no error.
func NewNames(ctx context.Context, owner api.Records, log *slog.Logger, all *Streams) *Names {
	return &Names{ctx: ctx, owner: owner, log: log, all: all, known: map[[3]string]string{}}
}

// Of is the name that the field of a role holds or refers to.
func (n *Names) Of(t *Thing, role string) string {
	value := t.Line(role, LongestTitle)
	related, refers := t.In.Display.Related[role]
	if !refers || value == "" {
		return value
	}
	if name := n.Title(t.ConnectionID, related, t.Text(role)); name != "" {
		return name
	}
	return value
}

// Title is what a record is called; empty when there is none, or too many were asked for.
func (n *Names) Title(connection, name, key string) string {
	at := [3]string{connection, name, key}
	n.Learn([][3]string{at})
	return n.known[at]
}

// Learn looks up what records are called, those of a stream at once, as far as it is not known yet.
func (n *Names) Learn(all [][3]string) {
	var asked [][3]string
	for _, at := range all {
		if _, known := n.known[at]; !known && len(n.known) < mostNames && n.all.Find(at[0], at[1]) != nil {
			n.known[at] = ""
			asked = append(asked, at)
		}
	}
	var wanted []*titles
	for _, at := range asked {
		in := n.all.Find(at[0], at[1])
		i := slices.IndexFunc(wanted, func(t *titles) bool { return t.in == in })
		if i < 0 {
			i, wanted = len(wanted), append(wanted, &titles{in: in, called: map[string]string{}})
		}
		wanted[i].keys = append(wanted[i].keys, at[2])
	}
	var looking errgroup.Group
	looking.SetLimit(Readers)
	for _, t := range wanted {
		looking.Go(func() error {
			err := t.read(n.ctx, n.owner)
			var known *api.Error
			if err != nil && !(errors.As(err, &known) && known.Status == http.StatusNotFound) {
				n.log.WarnContext(n.ctx, "names could not be looked up", "error", err)
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
	in     *Stream
	keys   []string
	called map[string]string
}

func (t *titles) read(ctx context.Context, from api.Records) error {
	found, err := from.Records(ctx, api.RecordQuery{ConnectionID: t.in.ConnectionID, Stream: t.in.Name, Keys: t.keys,
		Limit: len(t.keys)})
	for _, r := range found.Records {
		named := t.in.Thing(r)
		t.called[r.Key] = named.Title()
	}
	return err
}
