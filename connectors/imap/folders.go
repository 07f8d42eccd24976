package imap

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// mailFolder is one folder of the account.
type mailFolder struct {
	raw       string // as commands have it
	name      string
	delimiter string
	use       string // inbox, sent, drafts, trash, junk, archive, all, flagged, important
	closed    folderClosure
	status    folderStatus
	validity  uint32 // of the UIDs that are known
	renewed   bool   // its UIDs are others than in the run before
	id        string // that it has whatever its name is; known once it was open, on servers that have one
}

// folderClosure is why a folder that is listed cannot be read.
type folderClosure int

const (
	folderReadable  folderClosure = iota // it can be
	folderContainer                      // it has no messages of its own, only folders
	folderForbidden                      // it belongs to another person
	// the server cannot open it now, or answers outside the grammar; its messages are unknown
	folderRefused
)

// folderClosureOf returns why a folder is closed. It returns false for an error that affects more than one folder.
func folderClosureOf(err error) (folderClosure, bool) {
	if errors.Is(err, errGrammar) {
		return folderRefused, true // the connection is closed, and the others are asked for on another one
	}
	var e *connectorkit.Error
	var r *serverRefusal
	if !refusedOutright(err) || !errors.As(err, &e) || !errors.As(err, &r) {
		return folderReadable, false
	}
	switch {
	case e.Class == connectorkit.NotFound:
		return folderContainer, true
	case e.Class == connectorkit.Forbidden:
		return folderForbidden, true
	case e.Class == connectorkit.Unavailable && r.a.code != "UNAVAILABLE" && r.a.code != "SERVERBUG":
		return folderRefused, true
	}
	return folderReadable, false
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

var specialFolderUses = map[string]string{
	`\ALL`: "all", `\ARCHIVE`: "archive", `\DRAFTS`: "drafts", `\FLAGGED`: "flagged", `\JUNK`: "junk", `\SENT`: "sent",
	`\TRASH`: "trash", `\IMPORTANT`: "important",
}

// folderFromListed reads a line of LIST; nil when no command could name the folder.
func folderFromListed(l listedFolder) *mailFolder {
	if l.raw == "" || strings.ContainsFunc(l.raw, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil
	}
	f := &mailFolder{raw: l.raw, name: folderName(l.raw), delimiter: l.delimiter}
	if strings.EqualFold(l.raw, "INBOX") {
		f.name, f.use = "INBOX", "inbox"
	}
	for _, flag := range l.flags {
		flag = strings.ToUpper(flag)
		if flag == `\NOSELECT` || flag == `\NONEXISTENT` {
			f.closed = folderContainer
		}
		if use := specialFolderUses[flag]; use != "" {
			f.use = use
		}
	}
	return f
}

// containsFolder reports whether another folder is within this one.
func (f *mailFolder) containsFolder(other *mailFolder) bool {
	return f.delimiter != "" && strings.HasPrefix(other.raw, f.raw+f.delimiter)
}

func (f *mailFolder) toRecord() folderRecord {
	r := folderRecord{ID: f.name, Name: f.name, Use: f.use, Selectable: f.closed == folderReadable,
		Messages: f.status.messages}
	if f.delimiter != "" {
		if i := strings.LastIndex(f.name, f.delimiter); i > 0 {
			r.Parent, r.Name = f.name[:i], f.name[i+len(f.delimiter):]
		}
	}
	return r
}

// foldersToRead returns the folders with messages to read. At Gmail, All Mail contains every message except those in
// the bin or in junk. It returns false when All Mail is hidden.
func foldersToRead(all []*mailFolder, gmail bool) ([]*mailFolder, bool) {
	var out []*mailFolder
	for _, f := range all {
		if f.closed == folderReadable && (!gmail || f.use == "all" || f.use == "trash" || f.use == "junk") {
			out = append(out, f)
		}
	}
	order := []string{"all", "inbox", "sent"}
	rank := func(f *mailFolder) int {
		if i := slices.Index(order, f.use); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(out, func(a, b *mailFolder) int { return rank(a) - rank(b) })
	return out, !gmail || len(out) > 0 && out[0].use == "all"
}

// collectFolders collects the list of folders, and deletes those that left it.
func (a *mailAccount) collectFolders(ctx context.Context, f *connectorkit.Push) error {
	if err := a.loadFolderList(ctx); err != nil {
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
		if err := f.Record(ctx, "folders", connectorkit.Upsert(in.toRecord())); err != nil {
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
		connectorkit.Whole{Keys: slices.Values(now.Names), Gone: connectorkit.AllKeysGone}); err != nil {
		return err
	}
	return f.State(ctx, "folders", now)
}
