package dendrite

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
)

// Account is a person on the server.
type Account struct {
	User, Token string
	server      *Server
}

// On is the person on another server that has the same folder.
func (a *Account) On(s *Server) *Account { return &Account{User: a.User, Token: a.Token, server: s} }

var accountCounter, transactions atomic.Int64

// Open makes a new account.
func (s *Server) Open(who string) (*Account, error) {
	var offer struct {
		Nonce string `json:"nonce"`
	}
	if err := s.sendRequest("", http.MethodGet, "/_synapse/admin/v1/register", "", nil, &offer); err != nil {
		return nil, err
	}
	user := fmt.Sprintf("%s%d", who, accountCounter.Add(1))
	mac := hmac.New(sha1.New, []byte(registrationSecret))
	// a hash never fails
	_, _ = io.WriteString(mac, strings.Join([]string{offer.Nonce, user, "password-of-" + user, "notadmin"}, "\x00"))
	var made struct {
		User  string `json:"user_id"`
		Token string `json:"access_token"`
	}
	err := s.sendRequest("", http.MethodPost, "/_synapse/admin/v1/register", "application/json", map[string]any{
		"nonce": offer.Nonce, "username": user, "password": "password-of-" + user, "admin": false,
		"mac": hex.EncodeToString(mac.Sum(nil)),
	}, &made)
	return &Account{User: made.User, Token: made.Token, server: s}, err
}

func (s *Server) sendRequest(token, method, path, kind string, body, into any) error {
	text, raw := body.([]byte)
	if !raw && body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequest(method, s.URL+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", kind)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return realserver.RequestJSON(req, into)
}

// eventResult is what the server answers to something that made an event.
type eventResult struct {
	Event string `json:"event_id"`
	Room  string `json:"room_id"`
}

func (a *Account) sendAs(method, path string, body any) (h eventResult, err error) {
	err = a.server.sendRequest(a.Token, method, "/_matrix/client/v3"+path, "application/json", body, &h)
	return h, err
}

func roomPath(room string) string { return "/rooms/" + url.PathEscape(room) }

// CreateRoom opens a room with others, who join it.
func (a *Account) CreateRoom(title string, encrypted bool, others ...*Account) (string, error) {
	var invited []string
	for _, o := range others {
		invited = append(invited, o.User)
	}
	states := []map[string]any{}
	if encrypted {
		states = append(states, map[string]any{"type": "m.room.encryption", "state_key": "",
			"content": map[string]any{"algorithm": "m.megolm.v1.aes-sha2"}})
	}
	h, err := a.sendAs(http.MethodPost, "/createRoom",
		map[string]any{"name": title, "topic": "Kilns & glazes", "preset": "private_chat", "invite": invited,
			"initial_state": states})
	for _, o := range others {
		if err == nil {
			_, err = o.sendAs(http.MethodPost, roomPath(h.Room)+"/join", map[string]any{})
		}
		if err == nil {
			err = a.server.waitUntilVisible(`SELECT count(*) FROM syncapi_current_room_state WHERE room_id = $1 AND `+
				`state_key = $2 AND membership = 'join'`, h.Room, o.User)
		}
	}
	return h.Room, err
}

// Send puts an event into a room and waits until the server has it everywhere.
func (a *Account) Send(room, kind string, content any) (string, error) {
	h, err := a.sendAs(http.MethodPut, fmt.Sprintf("%s/send/%s/%d", roomPath(room), kind, transactions.Add(1)), content)
	if err != nil {
		return "", err
	}
	return h.Event, a.server.waitUntilVisible(`SELECT count(*) FROM syncapi_output_room_events WHERE event_id = $1`,
		h.Event)
}

// Redact takes the content of an event away.
func (a *Account) Redact(room, event string) error {
	_, err := a.sendAs(http.MethodPut, fmt.Sprintf("%s/redact/%s/%d", roomPath(room), url.PathEscape(event),
		transactions.Add(1)), map[string]any{"reason": "mistaken"})
	if err != nil {
		return err
	}
	return a.server.waitUntilVisible(`SELECT count(*) FROM syncapi_output_room_events WHERE event_id = $1 AND `+
		`headered_event_json LIKE '%redacted_because%'`, event)
}

// Set sets a state event of a room.
func (a *Account) Set(room, kind, key string, content any) error {
	h, err := a.sendAs(http.MethodPut, roomPath(room)+"/state/"+kind+"/"+url.PathEscape(key), content)
	if err != nil {
		return err
	}
	return a.server.waitUntilVisible(`SELECT count(*) FROM syncapi_current_room_state WHERE event_id = $1`, h.Event)
}

// Leave ends the person's membership.
func (a *Account) Leave(room string) error {
	if _, err := a.sendAs(http.MethodPost, roomPath(room)+"/leave", map[string]any{}); err != nil {
		return err
	}
	return a.server.waitUntilVisible(`SELECT count(*) FROM syncapi_current_room_state WHERE room_id = $1 AND `+
		`state_key = $2 AND membership = 'leave'`, room, a.User)
}

// Upload uploads a file and returns its address.
func (a *Account) Upload(kind string, content []byte) (string, error) {
	var made struct {
		URI string `json:"content_uri"`
	}
	err := a.server.sendRequest(a.Token, http.MethodPost, "/_matrix/media/v3/upload?filename=kiln", kind, content, &made)
	return made.URI, err
}
