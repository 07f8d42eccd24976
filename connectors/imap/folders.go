package imap

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// folder is one folder of the account.
type folder struct {
	raw       string // as commands have it
	name      string
	delimiter string
	use       string // inbox, sent, drafts, trash, junk, archive, all, flagged, important
	closed    closure
	status    boxStatus
	validity  uint32 // of the UIDs that are known
	renewed   bool   // its UIDs are others than in the run before
	id        string // that it has whatever its name is; known once it was open, on servers that have one
}

// closure is why a folder that is listed cannot be read.
type closure int

const (
	opened    closure = iota // it can be
	container                // it has no messages of its own, only folders
	forbidden                // it is somebody else's
	refused                  // the server cannot open it, now, or answers outside the grammar; what is in it is not known
)

// closureOf tells of a refusal what it says of the folder alone; false when it is no such refusal, and
// concerns more than one folder.
func closureOf(err error) (closure, bool) {
	if errors.Is(err, errGrammar) {
		return refused, true // the connection is closed, and the others are asked for on another one
	}
	var e *connectorkit.Error
	var r *refusal
	if !refusedOutright(err) || !errors.As(err, &e) || !errors.As(err, &r) {
		return opened, false
	}
	switch {
	case e.Class == connectorkit.NotFound:
		return container, true
	case e.Class == connectorkit.Forbidden:
		return forbidden, true
	case e.Class == connectorkit.Unavailable && r.a.code != "UNAVAILABLE" && r.a.code != "SERVERBUG":
		return refused, true
	}
	return opened, false
}

// folderRecord is what owners see of it.
type folderRecord struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Parent     string `json:"parent,omitzero"`
	Use        string `json:"special_use,omitzero"`
	Selectable bool   `json:"selectable"`
	Messages   int64  `json:"message_count"`
}

var uses = map[string]string{
	`\ALL`: "all", `\ARCHIVE`: "archive", `\DRAFTS`: "drafts", `\FLAGGED`: "flagged", `\JUNK`: "junk", `\SENT`: "sent", `\TRASH`: "trash", `\IMPORTANT`: "important",
}

// newFolder reads a line of LIST; nil when no command could name the folder.
func newFolder(l listed) *folder {
	if l.raw == "" || strings.ContainsFunc(l.raw, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil
	}
	f := &folder{raw: l.raw, name: folderName(l.raw), delimiter: l.delimiter}
	if strings.EqualFold(l.raw, "INBOX") {
		f.name, f.use = "INBOX", "inbox"
	}
	for _, flag := range l.flags {
		flag = strings.ToUpper(flag)
		if flag == `\NOSELECT` || flag == `\NONEXISTENT` {
			f.closed = container
		}
		if use := uses[flag]; use != "" {
			f.use = use
		}
	}
	return f
}

// holds tells whether another folder is within this one.
func (f *folder) holds(other *folder) bool {
	return f.delimiter != "" && strings.HasPrefix(other.raw, f.raw+f.delimiter)
}

func (f *folder) record() folderRecord {
	r := folderRecord{ID: f.name, Name: f.name, Use: f.use, Selectable: f.closed == opened, Messages: f.status.messages}
	if f.delimiter != "" {
		if i := strings.LastIndex(f.name, f.delimiter); i > 0 {
			r.Parent, r.Name = f.name[:i], f.name[i+len(f.delimiter):]
		}
	}
	return r
}

// walked are the folders whose messages are read. At Gmail every message is in All Mail, whatever its
// labels are, but for what is in the bin or is junk; false says that All Mail is hidden.
func walked(all []*folder, gmail bool) ([]*folder, bool) {
	var out []*folder
	for _, f := range all {
		if f.closed == opened && (!gmail || f.use == "all" || f.use == "trash" || f.use == "junk") {
			out = append(out, f)
		}
	}
	order := []string{"all", "inbox", "sent"}
	rank := func(f *folder) int {
		if i := slices.Index(order, f.use); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(out, func(a, b *folder) int { return rank(a) - rank(b) })
	return out, !gmail || len(out) > 0 && out[0].use == "all"
}

// folders collects the list of folders, and what is no longer on it.
func (a *account) folders(ctx context.Context, f *connectorkit.Push) error {
	if err := a.list(ctx); err != nil {
		return err
	}
	var before, now struct {
		Names []string `json:"names"`
	}
	if v := f.Stored("folders"); len(v) > 0 && json.Unmarshal(v, &before) != nil {
		before.Names = nil
	}
	for _, in := range a.all {
		if slices.Contains(now.Names, in.name) {
			continue
		}
		now.Names = append(now.Names, in.name)
		if err := f.Record(ctx, "folders", connectorkit.Upsert(in.record())); err != nil {
			return err
		}
	}
	for _, name := range before.Names {
		if !slices.Contains(now.Names, name) {
			if err := f.Record(ctx, "folders", connectorkit.Delete(name)); err != nil {
				return err
			}
		}
	}
	if err := f.Compare(ctx, "folders",
		connectorkit.Whole{Keys: slices.Values(now.Names), Gone: connectorkit.AllGone}); err != nil {
		return err
	}
	return f.State(ctx, "folders", now)
}
