package mail

import (
	"context"
	"os"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// kind is how mail is kept at a place.
type kind int

const (
	maildirs kind = iota
	mboxes
	thunderbird
)

// places are variables that name folders with mail; the manifest says where some are by themselves.
var places = []struct {
	name, env string
	kind      kind
}{
	{"maildir", "MAIL_MAILDIR_DIR", maildirs}, {"maildir_mail", "MAIL_MAIL_DIR", maildirs}, {"maildir_hidden", "MAIL_HIDDEN_MAILDIR_DIR", maildirs},
	{"mbox", "MAIL_MBOX_DIR", mboxes}, {"takeout", "MAIL_TAKEOUT_DIR", mboxes},
	{"thunderbird", "MAIL_THUNDERBIRD_DIR", thunderbird}, {"thunderbird_snap", "MAIL_THUNDERBIRD_SNAP_DIR", thunderbird},
	{"thunderbird_flatpak", "MAIL_THUNDERBIRD_FLATPAK_DIR", thunderbird},
	{"thunderbird_macos", "MAIL_THUNDERBIRD_MACOS_DIR", thunderbird}, {"thunderbird_windows", "MAIL_THUNDERBIRD_WINDOWS_DIR", thunderbird},
}

// found are the folders that are there, and the files in them.
func found(env func(string) string, how reading) (roots []localfile.Root, stores []localfile.Store) {
	for _, p := range places {
		dir := env(p.env)
		if dir == "" {
			continue
		}
		roots = append(roots, localfile.Root{Name: p.name, Path: dir})
		store := localfile.Store{Name: p.name, Root: p.name, Streams: []string{"messages", "attachments"}, Reason: "messages"}
		mbox := func(ctx context.Context, f *localfile.File, h *os.File, state jsontext.Value) error {
			return readMbox(ctx, f, h, state, how)
		}
		switch p.kind {
		case maildirs:
			store.Patterns, store.ID = []string{"**/cur/*", "**/new/*"}, baseName
			store.Open = func(_ context.Context, f *localfile.File, h *os.File, state jsontext.Value) error {
				return readMaildir(f, h, state, how)
			}
			stores = append(stores, localfile.Store{Name: p.name + "_unfinished", Root: p.name, Patterns: []string{"**/tmp/*"}, Reason: "not delivered yet"})
		case mboxes:
			store.Patterns, store.Open = []string{"**/*.mbox", "**/*.mbx", "**/mbox"}, mbox
		case thunderbird:
			store.Patterns, store.Open = []string{"*/Mail/**", "*/ImapMail/**", "Profiles/*/Mail/**", "Profiles/*/ImapMail/**"}, mbox
			stores = append(stores, localfile.Store{Name: p.name + "_index", Root: p.name, Reason: "indexes and settings, no messages",
				Patterns: []string{"**/*.msf", "**/*.dat", "**/*.html", "**/*.json", "**/*.sqlite*", "**/*.db", "**/*.wdseml", "**/*.mozmsgs/**", "**/.*"}})
		}
		stores = append(stores, store, localfile.Store{Name: p.name + "_other", Root: p.name, Patterns: []string{"**"}, Reason: "no mail, and not opened"})
	}
	return roots, stores
}

// baseName is what a message in a Maildir is called whatever its flags and folder.
func baseName(rel string) string {
	base, _ := cutFlags(path.Base(rel))
	return base
}

// cutFlags parts the name of a message from its flags. Systems that have no colon in names write
// another sign for it.
func cutFlags(name string) (base, flags string) {
	for _, mark := range []string{":2,", ";2,", "!2,"} {
		if base, flags, ok := strings.Cut(name, mark); ok {
			return base, flags
		}
	}
	return name, ""
}
