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

// serverSilenceLimit is how long a server may be silent. Some are for many minutes where others would refuse.
const serverSilenceLimit = 90 * time.Second

// imapSession is the one connection of a run. Every command of it passes the sender, one command an
// outcome; a connection that broke is made again within the command that needs it.
type imapSession struct {
	sender  *governhttp.Sender
	profile providerProfile
	user    string
	secret  string
	token   bool // the secret is an access token
	limits  messageLimits
	watch   func(protocol, command string, names []string)
	files   func() (*connectorkit.BlobWriter, error) // for attachments; nil when contents are not collected

	wire     *governhttp.Wire
	parser   *responseParser
	tags     int
	caps     map[string]bool
	selected string // raw name of the folder that is open
	qresync  bool   // it is switched on
}

// messageLimits bound how much of a message is read, and how much of its text is stored.
type messageLimits struct {
	text  int
	bytes int64
}

var (
	errFolderRecreated = errors.New("the folder was recreated meanwhile")
	errConnectionLost  = errors.New("the connection was lost before the command was sent")
)

// imapCommand is one command to a server.
type imapCommand struct {
	name   string
	folder *mailFolder // to be open; nil when none need be
	// text returns the whole command. It is called before every attempt.
	text func() string
	got  func(*fetchedMessage) error
	say  func(*serverAnswer) string // what to go on with when the server wants more; nil: nothing
}

// sendCommand sends a command until it has an answer.
func (s *imapSession) sendCommand(ctx context.Context, c imapCommand) (*serverAnswer, error) {
	var a *serverAnswer
	err := s.sender.Do(ctx, func(ctx context.Context) (o governor.Outcome, err error) {
		if err := s.ensureReady(ctx, c.folder); err != nil {
			return classifyConnection(err)
		}
		a, o, err = s.sendCommandOnce(ctx, c)
		return o, err
	})
	return a, err
}

// sendCommandOnce sends a command on the current connection.
func (s *imapSession) sendCommandOnce(ctx context.Context, c imapCommand) (*serverAnswer, governor.Outcome, error) {
	release := s.wire.Within(ctx)
	defer release()
	s.tags++
	tag := fmt.Sprintf("p%d", s.tags)
	a := &serverAnswer{}
	if _, err := io.WriteString(s.wire, tag+" "+c.text()+"\r\n"); err != nil {
		s.closeConnection()
		o, err := classifyConnection(err)
		return nil, o, err
	}
	for {
		got, err := s.parser.readResponse(a, c.got)
		if err == nil && got == "+" && c.say != nil {
			_, err = io.WriteString(s.wire, c.say(a)+"\r\n")
		}
		if err != nil || a.bye != nil && got != tag {
			s.closeConnection()
			if a.bye != nil {
				kind, refused := classifyAnswer(c.name, &serverAnswer{bye: a.bye})
				return nil, governor.Outcome{Kind: kind}, refused
			}
			o, err := classifyConnection(err)
			return nil, o, err
		}
		if got == tag {
			if a.code == "CAPABILITY" {
				a.caps = strings.Fields(strings.ToUpper(a.args))
			}
			if a.caps != nil {
				s.setCapabilities(a.caps)
			}
			kind, err := classifyAnswer(c.name, a)
			if err == nil && s.watch != nil {
				s.watch("IMAP", c.name, a.names)
			}
			return a, governor.Outcome{Kind: kind}, err
		}
	}
}

func (s *imapSession) setCapabilities(caps []string) {
	s.caps = map[string]bool{}
	for _, c := range caps {
		s.caps[c] = true
	}
}

// closeConnection abandons a connection.
func (s *imapSession) closeConnection() {
	if s.wire != nil {
		_ = s.wire.Close() // it is broken or abandoned
	}
	s.wire, s.parser, s.selected, s.qresync = nil, nil, "", false
}

// ensureReady ensures a connection, a sign-in and an open folder.
func (s *imapSession) ensureReady(ctx context.Context, in *mailFolder) error {
	if s.wire == nil {
		if err := s.connectAndSignIn(ctx); err != nil {
			return err
		}
	}
	if in == nil || s.selected == in.raw {
		return nil
	}
	a, err := s.examineFolder(ctx, in, nil)
	if err == nil && in.validity != 0 && a.validity != in.validity {
		err = connectorkit.Fail(connectorkit.Unavailable, errFolderRecreated)
	}
	return err
}

// connectAndSignIn dials, and signs in.
func (s *imapSession) connectAndSignIn(ctx context.Context) error {
	err := s.authenticate(ctx)
	if err == nil && len(s.caps) == 0 { // capabilities changed, and may have been announced
		_, err = s.sendPlain(ctx, "CAPABILITY")
	}
	if err == nil && s.caps["ID"] {
		if _, err = s.sendPlain(ctx, `ID ("name" "pdpp")`); s.wire != nil {
			err = nil // it is a courtesy
		}
	}
	if err != nil {
		s.closeConnection()
	}
	return err
}

// dialAndGreet dials, and hears what the server can do. It is a part of the attempt to sign in: a server
// that greets and then refuses has refused.
func (s *imapSession) dialAndGreet(ctx context.Context) (governor.Outcome, error) {
	o := governhttp.WireOptions{Address: s.profile.address, Stall: serverSilenceLimit}
	if s.profile.security == securityTLS {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	wire, err := governhttp.DialWire(ctx, o)
	if err != nil {
		return classifyConnection(err)
	}
	s.wire = wire
	s.readResponses()
	release := wire.Within(ctx)
	defer release()
	a := &serverAnswer{}
	_, err = s.parser.readResponse(a, nil)
	switch {
	case a.bye != nil:
		kind, refused := classifyAnswer("GREETING", a)
		return governor.Outcome{Kind: kind}, refused
	case err != nil:
		return classifyConnection(err)
	}
	s.setCapabilities(a.caps)
	if s.profile.security == securityStartTLS {
		err = s.startTLS(ctx)
	}
	if err == nil && len(s.caps) == 0 {
		_, err = s.sendPlain(ctx, "CAPABILITY")
	}
	if err != nil {
		return classifyConnection(err)
	}
	return governor.Outcome{Kind: governor.Success}, nil
}

// setBlobWriter sets where the contents of attachments are written from now on.
func (s *imapSession) setBlobWriter(files func() (*connectorkit.BlobWriter, error)) {
	if s.files = files; s.parser != nil {
		s.parser.files = files
	}
}

func (s *imapSession) readResponses() {
	s.parser = &responseParser{r: bufio.NewReaderSize(s.wire, 64<<10), bodyLimit: s.limits.text, bodyBytes: s.limits.bytes,
		files: s.files}
}

// sendPlain sends a command on the current connection, without retries.
func (s *imapSession) sendPlain(ctx context.Context, text string) (a *serverAnswer, err error) {
	name, _, _ := strings.Cut(text, " ")
	err = s.sender.Do(ctx, func(ctx context.Context) (o governor.Outcome, err error) {
		if s.wire == nil {
			return governor.Outcome{Kind: governor.Rejected}, connectorkit.Fail(connectorkit.Unavailable, errConnectionLost)
		}
		a, o, err = s.sendCommandOnce(ctx, imapCommand{name: name, text: func() string { return text }})
		return o, err
	})
	return a, err
}

func (s *imapSession) startTLS(ctx context.Context) error {
	if _, err := s.sendPlain(ctx, "STARTTLS"); err != nil {
		return err
	}
	if s.parser.r.Buffered() > 0 { // data arrived before the encryption
		return connectorkit.Fail(connectorkit.Malformed, errGrammar)
	}
	if err := s.wire.Encrypt(ctx, &tls.Config{MinVersion: tls.VersionTLS12}); err != nil {
		return err
	}
	s.readResponses()
	_, err := s.sendPlain(ctx, "CAPABILITY")
	return err
}

// authenticate sends the credential, on a new connection for every attempt, because a server that refuses one may
// close the connection.
func (s *imapSession) authenticate(ctx context.Context) error {
	return s.sender.Do(ctx, func(ctx context.Context) (governor.Outcome, error) {
		if o, err := s.dialAndGreet(ctx); err != nil {
			s.closeConnection()
			return o, err
		}
		c, err := s.credential()
		if err != nil {
			s.closeConnection()
			return governor.Outcome{Kind: governor.Rejected}, err
		}
		s.caps = nil
		_, o, err := s.sendCommandOnce(ctx, c)
		if err != nil {
			s.closeConnection()
		}
		return o, err
	})
}

// credential is the command that signs in, in the best way that the server takes.
func (s *imapSession) credential() (imapCommand, error) {
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
		return imapCommand{}, connectorkit.EndRun("imap_oauth_unsupported",
			"this server takes no access token: connect with a password", protocol.RefreshCredentials, false)
	case s.caps["LOGINDISABLED"]:
		return imapCommand{}, connectorkit.EndRun("imap_login_disabled",
			"this server takes no password on a connection that is not encrypted: set PDPP_IMAP_SECURITY to tls or starttls",
			protocol.ManualActionRequired, false)
	default:
		if strings.ContainsFunc(s.user+s.secret, func(r rune) bool { return r < ' ' || r > '~' }) {
			return imapCommand{}, connectorkit.Fail(connectorkit.Unauthorized,
				errors.New("the credential cannot be sent to this server"))
		}
		text = "LOGIN " + quoteString(s.user) + " " + quoteString(s.secret)
	}
	return imapCommand{name: authenticateCommand, text: func() string { return text }, say: func(*serverAnswer) string {
		if sent {
			return "" // a refused token is reported in a challenge that expects an empty answer
		}
		sent = true
		return coded
	}}, nil
}

// examineFolder opens a folder for reading. With a mark the server returns what changed since, if it can. A folder with
// UIDs that differ from those of the run before is opened by SELECT, because Courier writes the UIDs of a folder down
// only then; otherwise each run would read it again. Nothing that changes a message is sent.
func (s *imapSession) examineFolder(ctx context.Context, in *mailFolder, since *folderMark) (*serverAnswer, error) {
	var a *serverAnswer
	err := s.sender.Do(ctx, func(ctx context.Context) (o governor.Outcome, err error) {
		if s.wire == nil {
			if err := s.connectAndSignIn(ctx); err != nil {
				return classifyConnection(err)
			}
		}
		options := ""
		switch {
		case since != nil && s.caps["QRESYNC"]:
			if !s.qresync {
				if _, err := s.sendPlain(ctx, "ENABLE QRESYNC"); err != nil {
					return classifyConnection(err)
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
		a, o, err = s.sendCommandOnce(ctx,
			imapCommand{name: name, text: func() string { return name + " " + quoteString(in.raw) + options }})
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

// searchUIDs finds the UIDs in the open folder that match.
func (s *imapSession) searchUIDs(ctx context.Context, in *mailFolder, criteria string) (uidSet, error) {
	a, err := s.sendCommand(ctx, imapCommand{name: "SEARCH", folder: in, text: func() string {
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

// logOut sends LOGOUT.
func (s *imapSession) logOut(ctx context.Context) {
	if s.wire == nil {
		return
	}
	release := s.wire.Within(ctx)
	defer release()
	_, _ = io.WriteString(s.wire, "z LOGOUT\r\n") // the answer is not waited for
	s.closeConnection()
}
