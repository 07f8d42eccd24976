package mail

import (
	"context"
	"os"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// mailFolderKind is the storage format of a mail folder.
type mailFolderKind int

const (
	kindMaildir mailFolderKind = iota
	kindMbox
	thunderbird
)

// mailPlaces lists the variables that name folders with mail. The manifest has default paths for some.
var mailPlaces = []struct {
	name, env string
	kind      mailFolderKind
}{
	{"maildir", "MAIL_MAILDIR_DIR", kindMaildir}, {"maildir_mail", "MAIL_MAIL_DIR", kindMaildir},
	{"maildir_hidden", "MAIL_HIDDEN_MAILDIR_DIR", kindMaildir},
	{"mbox", "MAIL_MBOX_DIR", kindMbox}, {"takeout", "MAIL_TAKEOUT_DIR", kindMbox},
	{"thunderbird", "MAIL_THUNDERBIRD_DIR", thunderbird}, {"thunderbird_snap", "MAIL_THUNDERBIRD_SNAP_DIR", thunderbird},
	{"thunderbird_flatpak", "MAIL_THUNDERBIRD_FLATPAK_DIR", thunderbird},
	{"thunderbird_macos", "MAIL_THUNDERBIRD_MACOS_DIR", thunderbird},
	{"thunderbird_windows", "MAIL_THUNDERBIRD_WINDOWS_DIR", thunderbird},
}

// findMailFolders are the folders that are there, and the files in them.
func findMailFolders(env func(string) string, how messageOptions) (roots []localfile.Root, stores []localfile.Store) {
	for _, p := range mailPlaces {
		dir := env(p.env)
		if dir == "" {
			continue
		}
		roots = append(roots, localfile.Root{Name: p.name, Path: dir})
		store := localfile.Store{Name: p.name, Root: p.name, Streams: []string{"messages", "attachments"}, Reason: "messages"}
		mbox := func(ctx context.Context, f *localfile.File, h *os.File, state jsontext.Value) error {
			return readMboxFile(ctx, f, h, state, how)
		}
		switch p.kind {
		case kindMaildir:
			store.Patterns, store.ID = []string{"**/cur/*", "**/new/*"}, maildirBaseName
			store.Open = func(_ context.Context, f *localfile.File, h *os.File, state jsontext.Value) error {
				return readMaildir(f, h, state, how)
			}
			stores = append(stores, localfile.Store{Name: p.name + "_unfinished", Root: p.name, Patterns: []string{"**/tmp/*"},
				Reason: "not delivered yet"})
		case kindMbox:
			store.Patterns, store.Open = []string{"**/*.mbox", "**/*.mbx", "**/mbox"}, mbox
		case thunderbird:
			store.Patterns, store.Open = []string{"*/Mail/**", "*/ImapMail/**", "Profiles/*/Mail/**", "Profiles/*/ImapMail/**"},
				mbox
			stores = append(stores, localfile.Store{Name: p.name + "_index", Root: p.name,
				Reason: "indexes and settings, no messages",
				Patterns: []string{"**/*.msf", "**/*.dat", "**/*.html", "**/*.json", "**/*.sqlite*", "**/*.db", "**/*.wdseml",
					"**/*.mozmsgs/**", "**/.*"}})
		}
		stores = append(stores, store, localfile.Store{Name: p.name + "_other", Root: p.name, Patterns: []string{"**"},
			Reason: "no mail, and not opened"})
	}
	return roots, stores
}

// maildirBaseName is what a message in a Maildir is called whatever its flags and folder.
func maildirBaseName(rel string) string {
	base, _ := cutMaildirFlags(path.Base(rel))
	return base
}

// cutMaildirFlags parts the name of a message from its flags. Systems that have no colon in names write
// another sign for it.
func cutMaildirFlags(name string) (base, flags string) {
	for _, mark := range []string{":2,", ";2,", "!2,"} {
		if base, flags, ok := strings.Cut(name, mark); ok {
			return base, flags
		}
	}
	return name, ""
}
