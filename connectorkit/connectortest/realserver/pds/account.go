package pds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"net/http"
	"sync/atomic"
	"time"
)

// Account is a person's repository.
type Account struct {
	DID, Handle string
	// AppPassword is one that the account has made for a program.
	AppPassword string

	server *Server
	token  string
}

// Password is that of every account; programs get another.
const Password = "the-password-of-the-person"

var accountCounter atomic.Int64

// Open makes a new account.
func (s *Server) Open() (*Account, error) {
	n := accountCounter.Add(1)
	a := &Account{server: s, Handle: fmt.Sprintf("mara%d.test", n)}
	var made struct {
		DID    string `json:"did"`
		Access string `json:"accessJwt"`
	}
	err := a.postJSON("com.atproto.server.createAccount",
		map[string]any{"handle": a.Handle, "email": fmt.Sprintf("mara%d@harbour.example", n), "password": Password}, &made)
	if err != nil {
		return nil, err
	}
	a.DID, a.token = made.DID, made.Access
	var given struct {
		Password string `json:"password"`
	}
	if err := a.postJSON("com.atproto.server.createAppPassword", map[string]any{"name": "pdpp"}, &given); err != nil {
		return nil, err
	}
	a.AppPassword = given.Password
	return a, nil
}

// Write is one change of a repository.
type Write struct {
	Op         string // create, update or delete
	Collection string
	Key        string
	Value      map[string]any
}

// Write makes changes, two hundred at a time at most, which is what the server takes.
func (a *Account) Write(writes ...Write) error {
	for len(writes) > 0 {
		some := writes[:min(200, len(writes))]
		writes = writes[len(some):]
		var out []map[string]any
		for _, w := range some {
			one := map[string]any{"$type": "com.atproto.repo.applyWrites#" + w.Op, "collection": w.Collection, "rkey": w.Key}
			if w.Op != "delete" {
				one["value"] = w.Value
			}
			out = append(out, one)
		}
		if err := a.postJSON("com.atproto.repo.applyWrites", map[string]any{"repo": a.DID, "validate": false, "writes": out},
			nil); err != nil {
			return err
		}
	}
	return nil
}

// Upload uploads a picture and returns its reference for a record.
func (a *Account) Upload(kind string, content []byte) (map[string]any, error) {
	var answer struct {
		Blob map[string]any `json:"blob"`
	}
	return answer.Blob, a.sendRequest("com.atproto.repo.uploadBlob", kind, content, &answer)
}

// RevokeAppPassword ends the app password.
func (a *Account) RevokeAppPassword() error {
	return a.postJSON("com.atproto.server.revokeAppPassword", map[string]any{"name": "pdpp"}, nil)
}

// Repository is what the account's export holds, by collection and key: each record in our form,
// made by code that has nothing to do with the connector.
func (a *Account) Repository(ctx context.Context) (all map[string]map[string]json.RawMessage, err error) {
	return all, a.server.readTestSide(ctx, "/repository?did="+a.DID+"&handle="+a.Handle, &all)
}

func (a *Account) postJSON(method string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return a.sendRequest(method, "application/json", text, into)
}

func (a *Account) sendRequest(method, kind string, body []byte, into any) error {
	req, err := http.NewRequest(http.MethodPost, a.server.URL+"/xrpc/"+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", kind)
	if a.server.bypass != "" {
		req.Header.Set("x-ratelimit-bypass", a.server.bypass)
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	return realserver.RequestJSON(req, into)
}

// RecordKey is that of a record which was made at a time: thirteen signs that sort as the time does.
func RecordKey(at time.Time) string {
	const signs = "234567abcdefghijklmnopqrstuvwxyz"
	n, key := uint64(at.UnixMicro())<<10, make([]byte, 13)
	for i := range key {
		key[len(key)-1-i] = signs[n&31]
		n >>= 5
	}
	return string(key)
}
