package imap

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// stall is how long a server may be silent. Some are for many minutes where others would refuse.
const stall = 90 * time.Second

// session is the one connection of a run. Every command of it passes the sender, one command an
// outcome; a connection that broke is made again within the command that needs it.
type session struct {
	sender  *governhttp.Sender
	profile profile
	user    string
	secret  string
	token   bool // the secret is an access token
	limits  limitsOf
	watch   func(protocol, command string, names []string)
	files   func() (*connectorkit.BlobWriter, error) // for what comes with messages; nil where nobody asks for it

	wire     *governhttp.Wire
	parser   *parser
	tags     int
	caps     map[string]bool
	selected string // raw name of the folder that is open
	qresync  bool   // it is switched on
}

// limitsOf are how much of a message is read, and how much text of it kept.
type limitsOf struct {
	text  int
	bytes int64
}

var (
	errMoved = errors.New("the folder was made anew meanwhile")
	errLost  = errors.New("the connection was lost on the way to it")
)

// command is one thing that a server is asked.
type command struct {
	name   string
	folder *folder // to be open; nil when none need be
	// text is the whole command. It is asked for before every attempt.
	text func() string
	got  func(*fetched) error
	say  func(*answer) string // what to go on with when the server wants more; nil: nothing
}

// do sends a command until it has an answer.
func (s *session) do(ctx context.Context, c command) (*answer, error) {
	var a *answer
	err := s.sender.Do(ctx, func(ctx context.Context) (o governor.Outcome, err error) {
		if err := s.ready(ctx, c.folder); err != nil {
			return broken(err)
		}
		a, o, err = s.once(ctx, c)
		return o, err
	})
	return a, err
}

// once sends a command on the connection that there is.
func (s *session) once(ctx context.Context, c command) (*answer, governor.Outcome, error) {
	release := s.wire.Within(ctx)
	defer release()
	s.tags++
	tag := fmt.Sprintf("p%d", s.tags)
	a := &answer{}
	if _, err := io.WriteString(s.wire, tag+" "+c.text()+"\r\n"); err != nil {
		s.drop()
		o, err := broken(err)
		return nil, o, err
	}
	for {
		got, err := s.parser.next(a, c.got)
		if err == nil && got == "+" && c.say != nil {
			_, err = io.WriteString(s.wire, c.say(a)+"\r\n")
		}
		if err != nil || a.bye != nil && got != tag {
			s.drop()
			if a.bye != nil {
				kind, refused := judge(c.name, &answer{bye: a.bye})
				return nil, governor.Outcome{Kind: kind}, refused
			}
			o, err := broken(err)
			return nil, o, err
		}
		if got == tag {
			if a.code == "CAPABILITY" {
				a.caps = strings.Fields(strings.ToUpper(a.args))
			}
			if a.caps != nil {
				s.know(a.caps)
			}
			kind, err := judge(c.name, a)
			if err == nil && s.watch != nil {
				s.watch("IMAP", c.name, a.names)
			}
			return a, governor.Outcome{Kind: kind}, err
		}
	}
}

func (s *session) know(caps []string) {
	s.caps = map[string]bool{}
	for _, c := range caps {
		s.caps[c] = true
	}
}

// drop gives a connection up.
func (s *session) drop() {
	if s.wire != nil {
		_ = s.wire.Close() // it is broken, or nobody waits for it
	}
	s.wire, s.parser, s.selected, s.qresync = nil, nil, "", false
}

// ready makes sure of a connection, a sign-in and an open folder.
func (s *session) ready(ctx context.Context, in *folder) error {
	if s.wire == nil {
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	if in == nil || s.selected == in.raw {
		return nil
	}
	a, err := s.examine(ctx, in, nil)
	if err == nil && in.validity != 0 && a.validity != in.validity {
		err = connectorkit.Fail(connectorkit.Unavailable, errMoved)
	}
	return err
}

// connect dials, and signs in.
func (s *session) connect(ctx context.Context) error {
	err := s.signIn(ctx)
	if err == nil && len(s.caps) == 0 { // it has others than before, and may have said so
		_, err = s.plain(ctx, "CAPABILITY")
	}
	if err == nil && s.caps["ID"] {
		if _, err = s.plain(ctx, `ID ("name" "pdpp")`); s.wire != nil {
			err = nil // it is a courtesy
		}
	}
	if err != nil {
		s.drop()
	}
	return err
}

// greet dials, and hears what the server can do. It is a part of the attempt to sign in: a server
// that greets and then refuses has refused.
func (s *session) greet(ctx context.Context) (governor.Outcome, error) {
	o := governhttp.WireOptions{Address: s.profile.address, Stall: stall}
	if s.profile.security == encrypted {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	wire, err := governhttp.DialWire(ctx, o)
	if err != nil {
		return broken(err)
	}
	s.wire = wire
	s.read()
	release := wire.Within(ctx)
	defer release()
	a := &answer{}
	_, err = s.parser.next(a, nil)
	switch {
	case a.bye != nil:
		kind, refused := judge("GREETING", a)
		return governor.Outcome{Kind: kind}, refused
	case err != nil:
		return broken(err)
	}
	s.know(a.caps)
	if s.profile.security == upgraded {
		err = s.upgrade(ctx)
	}
	if err == nil && len(s.caps) == 0 {
		_, err = s.plain(ctx, "CAPABILITY")
	}
	if err != nil {
		return broken(err)
	}
	return governor.Outcome{Kind: governor.Success}, nil
}

// useFiles says where the contents of what comes with messages go from now on.
func (s *session) useFiles(files func() (*connectorkit.BlobWriter, error)) {
	if s.files = files; s.parser != nil {
		s.parser.files = files
	}
}

func (s *session) read() {
	s.parser = &parser{r: bufio.NewReaderSize(s.wire, 64<<10), bodyLimit: s.limits.text, bodyBytes: s.limits.bytes, files: s.files}
}

// plain sends a command on the connection that there is. It is not made again within it.
func (s *session) plain(ctx context.Context, text string) (a *answer, err error) {
	name, _, _ := strings.Cut(text, " ")
	err = s.sender.Do(ctx, func(ctx context.Context) (o governor.Outcome, err error) {
		if s.wire == nil {
			return governor.Outcome{Kind: governor.Rejected}, connectorkit.Fail(connectorkit.Unavailable, errLost)
		}
		a, o, err = s.once(ctx, command{name: name, text: func() string { return text }})
		return o, err
	})
	return a, err
}

func (s *session) upgrade(ctx context.Context) error {
	if _, err := s.plain(ctx, "STARTTLS"); err != nil {
		return err
	}
	if s.parser.r.Buffered() > 0 { // somebody spoke before the encryption
		return connectorkit.Fail(connectorkit.Malformed, errGrammar)
	}
	if err := s.wire.Encrypt(ctx, &tls.Config{MinVersion: tls.VersionTLS12}); err != nil {
		return err
	}
	s.read()
	_, err := s.plain(ctx, "CAPABILITY")
	return err
}

// signIn sends the credential, on a connection of its own for every attempt: a server that refuses
// one may end the connection.
func (s *session) signIn(ctx context.Context) error {
	return s.sender.Do(ctx, func(ctx context.Context) (governor.Outcome, error) {
		if o, err := s.greet(ctx); err != nil {
			s.drop()
			return o, err
		}
		c, err := s.credential()
		if err != nil {
			s.drop()
			return governor.Outcome{Kind: governor.Rejected}, err
		}
		s.caps = nil
		_, o, err := s.once(ctx, c)
		if err != nil {
			s.drop()
		}
		return o, err
	})
}

// credential is the command that signs in, in the best way that the server takes.
func (s *session) credential() (command, error) {
	mechanism, response := "PLAIN", "\x00"+s.user+"\x00"+s.secret
	if s.token {
		mechanism, response = "XOAUTH2", "user="+s.user+"\x01auth=Bearer "+s.secret+"\x01\x01"
	}
	coded := base64.StdEncoding.EncodeToString([]byte(response))
	text, sent := "AUTHENTICATE "+mechanism, false
	switch {
	case s.caps["AUTH="+mechanism] && s.caps["SASL-IR"]:
		text, sent = text+" "+coded, true
	case s.caps["AUTH="+mechanism]:
	case s.token:
		return command{}, connectorkit.End("imap_oauth_unsupported", "this server takes no access token: connect with a password", protocol.RefreshCredentials, false)
	case s.caps["LOGINDISABLED"]:
		return command{}, connectorkit.End("imap_login_disabled", "this server takes no password on a connection that is not encrypted: set PDPP_IMAP_SECURITY to tls or starttls", protocol.ManualActionRequired, false)
	default:
		if strings.ContainsFunc(s.user+s.secret, func(r rune) bool { return r < ' ' || r > '~' }) {
			return command{}, connectorkit.Fail(connectorkit.Unauthorized, errors.New("the credential cannot be sent to this server"))
		}
		text = "LOGIN " + quoted(s.user) + " " + quoted(s.secret)
	}
	return command{name: signIn, text: func() string { return text }, say: func(*answer) string {
		if sent {
			return "" // a refused token is told in a challenge, which wants an empty answer
		}
		sent = true
		return coded
	}}, nil
}

// examine opens a folder for reading. With a mark the server returns what changed since, if it can. A folder with
// UIDs that differ from those of the run before is opened by SELECT, because Courier writes the UIDs of a folder down
// only then; otherwise each run would read it again. Nothing that changes a message is sent.
func (s *session) examine(ctx context.Context, in *folder, since *mark) (*answer, error) {
	var a *answer
	err := s.sender.Do(ctx, func(ctx context.Context) (o governor.Outcome, err error) {
		if s.wire == nil {
			if err := s.connect(ctx); err != nil {
				return broken(err)
			}
		}
		options := ""
		switch {
		case since != nil && s.caps["QRESYNC"]:
			if !s.qresync {
				if _, err := s.plain(ctx, "ENABLE QRESYNC"); err != nil {
					return broken(err)
				}
				s.qresync = true
			}
			options = fmt.Sprintf(" (QRESYNC (%d %d))", since.Validity, since.Modseq)
		case s.caps["CONDSTORE"]:
			options = " (CONDSTORE)"
		}
		s.selected = ""
		name := "EXAMINE"
		if in.renewed {
			name = "SELECT"
		}
		a, o, err = s.once(ctx, command{name: name, text: func() string { return name + " " + quoted(in.raw) + options }})
		if err == nil {
			s.selected, in.id = in.raw, a.id
			if a.validity == 0 {
				err = connectorkit.Fail(connectorkit.Malformed, errGrammar)
			}
		}
		return o, err
	})
	return a, err
}

// search finds the UIDs in the open folder that match.
func (s *session) search(ctx context.Context, in *folder, criteria string) (uids, error) {
	a, err := s.do(ctx, command{name: "SEARCH", folder: in, text: func() string {
		if s.caps["ESEARCH"] {
			return "UID SEARCH RETURN (ALL) " + criteria
		}
		return "UID SEARCH " + criteria
	}})
	if err != nil {
		return nil, err
	}
	return a.found, nil
}

// end says goodbye.
func (s *session) end(ctx context.Context) {
	if s.wire == nil {
		return
	}
	release := s.wire.Within(ctx)
	defer release()
	_, _ = io.WriteString(s.wire, "z LOGOUT\r\n") // the answer is not waited for
	s.drop()
}
