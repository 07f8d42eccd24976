// Package imap collects mail over IMAP: Gmail, Fastmail, iCloud and any other server.
//
//	profile.go   where an account's mail is
//	session.go   one connection, and its commands
//	classify.go  what a refusal means
//	answer.go    server answers, parsed within bounds
//	uids.go      sets of UIDs
//	listing.go   which folders a server lists
//	folders.go   what a folder is, and which folders are walked
//	walk.go      the messages of all folders, read folder by folder: what is new, gone or missing
//	messages.go  what is known of messages without their bodies
//	bodies.go    bodies of messages, and attachments
//
// connectorkit/message maps the content of a message.
package imap

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
	"github.com/pdpp-go/pdpp/protocol"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of mail over IMAP.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

const (
	defaultMessageBytes = 64 << 20
	defaultBodies       = 50 // in one command
	defaultWindow       = 500
)

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	user := strings.TrimSpace(s.Env("IMAP_ADDRESS"))
	p, err := findProfile(user, s.Env("IMAP_SERVER"), s.Env("PDPP_IMAP_SECURITY"))
	if err != nil {
		return nil, connectorkit.EndRun("imap_server_unknown",
			"the mail server of this address is not known: "+
				"enter it as in mail.example.org, and leave PDPP_IMAP_SECURITY unset unless the server is on this machine",
			protocol.ManualActionRequired, false)
	}
	account := &mailAccount{window: defaultWindow, bodies: integerOr(s.Env("PDPP_IMAP_BODIES_PER_COMMAND"), defaultBodies),
		files: s.NewBlob, largest: s.BlobLimit()}
	account.session = &imapSession{
		sender: s.Sender("", p.configurePace), watch: s.CompareAnswer, profile: p, user: user, secret: s.Env("IMAP_PASSWORD"),
		limits: messageLimits{text: localfile.ParseLimits(s.Env("PDPP_IMAP_TEXT")).Text,
			bytes: int64(integerOr(s.Env("PDPP_IMAP_MAX_MESSAGE_BYTES"), defaultMessageBytes))},
	}
	if name := strings.TrimSpace(s.Env("IMAP_LOGIN")); name != "" {
		account.session.user = name
	}
	if token := s.Env("IMAP_ACCESS_TOKEN"); token != "" {
		account.session.secret, account.session.token = token, true
	} else if p.name == "gmail" {
		account.session.secret = strings.ReplaceAll(account.session.secret, " ", "") // Google shows app passwords in groups
	}
	if account.session.secret == "" {
		return nil, connectorkit.EndRun("credentials_missing",
			"credentials are missing: IMAP_PASSWORD. Enter the app password of this account", protocol.RefreshCredentials, false)
	}
	s.AtEnd(account.session.logOut)
	return []connectorkit.Collector{
		connectorkit.PushSource{Streams: []string{"folders"}, Collect: account.collectFolders},
		connectorkit.PushSource{Streams: []string{"messages"}, Collect: account.collectMessages},
		connectorkit.PushSource{Streams: []string{"bodies", "attachments"}, Collect: account.collectBodies},
	}, nil
}

func integerOr(text string, usual int) int {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n > 0 {
		return n
	}
	return usual
}

// mailAccount is the owner's mail in one run.
type mailAccount struct {
	session *imapSession
	window  int // UIDs in one command
	bodies  int
	files   func() (*connectorkit.BlobWriter, error)
	largest int64 // of them; negative: there is no bound

	all   []*mailFolder
	walks []*mailFolder
	none  error // why there is no list
}

// loadFolderList finds out which folders there are, once a run.
func (a *mailAccount) loadFolderList(ctx context.Context) error {
	if a.all != nil || a.none != nil {
		return a.none // after one refusal in a run, it is not asked again
	}
	all, err := a.session.listFolders(ctx)
	if err != nil {
		a.none = err
		return err
	}
	walks, whole := foldersToRead(all, a.session.caps["X-GM-EXT-1"])
	if !whole {
		return connectorkit.EndRun("imap_all_mail_hidden",
			"Gmail does not show All Mail over IMAP: "+
				"open Gmail's settings, then Labels, tick Show in IMAP beside All Mail, and run again",
			protocol.ManualActionRequired, false)
	}
	a.all, a.walks = all, walks
	return nil
}

// messageKey is a message's, as long as the server keeps its numbers.
func messageKey(folder string, validity, uid uint32) string {
	return fmt.Sprintf("%s/%d/%d", folder, validity, uid)
}

// parseMessageKey parses a key that messageKey made.
func parseMessageKey(key string) (folder string, validity, uid uint32, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) < 3 {
		return "", 0, 0, false
	}
	v, err1 := strconv.ParseUint(parts[len(parts)-2], 10, 32)
	u, err2 := strconv.ParseUint(parts[len(parts)-1], 10, 32)
	return strings.Join(parts[:len(parts)-2], "/"), uint32(v), uint32(u), err1 == nil && err2 == nil && u > 0
}
