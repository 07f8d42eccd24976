package imap

import (
	"context"
	"errors"
	"slices"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// statusItems are what is asked of folders before any is opened.
func (s *session) statusItems() string {
	items := "MESSAGES UIDNEXT UIDVALIDITY"
	if s.caps["CONDSTORE"] {
		items += " HIGHESTMODSEQ"
	}
	return "(" + items + ")"
}

// folders lists all folders, with what can be known of them without opening one.
func (s *session) folders(ctx context.Context) ([]*folder, error) {
	a, err := s.do(ctx, command{name: "LIST", text: func() string {
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
	var out []*folder
	for _, l := range a.folders {
		f := newFolder(l)
		if f == nil || slices.ContainsFunc(out, func(o *folder) bool { return o.raw == f.raw }) {
			continue
		}
		out = append(out, f)
		if f.closed != opened {
			continue
		}
		box, ok := a.status2[l.raw]
		if !ok {
			var err error
			box, err = s.boxStatus(ctx, f)
			if why, alone := closureOf(err); alone {
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
		// What cannot be selected holds other folders. Where it holds none it may be one that is broken.
		if f.closed != container || slices.ContainsFunc(out, f.holds) {
			continue
		}
		_, err := s.examine(ctx, f, nil)
		if why, alone := closureOf(err); alone {
			f.closed = why
		} else if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// boxStatus asks for what can be known of a folder without opening it. A folder is opened when the answer is outside
// the grammar or names another one: GNU imap4d does not quote a name with parentheses.
func (s *session) boxStatus(ctx context.Context, f *folder) (boxStatus, error) {
	text := func() string { return "STATUS " + quoted(f.raw) + " " + s.statusItems() }
	a, err := s.do(ctx, command{name: "STATUS", text: text})
	if err == nil {
		if box, named := a.status2[f.raw]; named {
			return box, nil
		}
	} else if !errors.Is(err, errGrammar) {
		return boxStatus{}, err
	}
	if a, err = s.examine(ctx, f, nil); err != nil {
		return boxStatus{}, err
	}
	return boxStatus{messages: a.exists, uidNext: a.uidNext, validity: a.validity, modseq: a.modseq}, nil
}
