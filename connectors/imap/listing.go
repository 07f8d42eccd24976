package imap

import (
	"context"
	"errors"
	"slices"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// statusItems returns the STATUS items that are requested before a folder is opened.
func (s *imapSession) statusItems() string {
	items := "MESSAGES UIDNEXT UIDVALIDITY"
	if s.caps["CONDSTORE"] {
		items += " HIGHESTMODSEQ"
	}
	return "(" + items + ")"
}

// listFolders lists all folders, with what can be known of them without opening one.
func (s *imapSession) listFolders(ctx context.Context) ([]*mailFolder, error) {
	a, err := s.sendCommand(ctx, imapCommand{name: "LIST", text: func() string {
		switch {
		case s.caps["LIST-STATUS"] && s.caps["SPECIAL-USE"]:
			return `LIST "" "*" RETURN (SPECIAL-USE STATUS ` + s.statusItems() + `)`
		case s.caps["LIST-STATUS"]:
			return `LIST "" "*" RETURN (STATUS ` + s.statusItems() + `)`
		}
		return `LIST "" "*"`
	}})
	if err != nil {
		return nil, err
	}
	if len(a.folders) == 0 { // an account has an INBOX
		return nil, connectorkit.Fail(connectorkit.Malformed, errGrammar)
	}
	var out []*mailFolder
	for _, l := range a.folders {
		f := folderFromListed(l)
		if f == nil || slices.ContainsFunc(out, func(o *mailFolder) bool { return o.raw == f.raw }) {
			continue
		}
		out = append(out, f)
		if f.closed != folderReadable {
			continue
		}
		box, ok := a.status2[l.raw]
		if !ok {
			var err error
			box, err = s.fetchFolderStatus(ctx, f)
			if why, alone := folderClosureOf(err); alone {
				f.closed = why
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		f.status, f.validity = box, box.validity
	}
	for _, f := range out {
		// A folder that cannot be selected holds other folders. Without any it may be broken.
		if f.closed != folderContainer || slices.ContainsFunc(out, f.containsFolder) {
			continue
		}
		_, err := s.examineFolder(ctx, f, nil)
		if why, alone := folderClosureOf(err); alone {
			f.closed = why
		} else if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fetchFolderStatus asks for what can be known of a folder without opening it. A folder is opened when the answer is
// outside the grammar or names another one: GNU imap4d does not quote a name with parentheses.
func (s *imapSession) fetchFolderStatus(ctx context.Context, f *mailFolder) (folderStatus, error) {
	text := func() string { return "STATUS " + quoteString(f.raw) + " " + s.statusItems() }
	a, err := s.sendCommand(ctx, imapCommand{name: "STATUS", text: text})
	if err == nil {
		if box, named := a.status2[f.raw]; named {
			return box, nil
		}
	} else if !errors.Is(err, errGrammar) {
		return folderStatus{}, err
	}
	if a, err = s.examineFolder(ctx, f, nil); err != nil {
		return folderStatus{}, err
	}
	return folderStatus{messages: a.exists, uidNext: a.uidNext, validity: a.validity, modseq: a.modseq}, nil
}
