package gitea

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"net/http"
	"sync/atomic"
)

// Account is a person.
type Account struct {
	Name, Token string
	server      *Server
	id          int64
	made        int // things that have a number in their name
}

var accountCounter atomic.Int64

// Open makes a new account, with a token that reads.
func (s *Server) Open() (*Account, error) {
	a := &Account{server: s, Name: fmt.Sprintf("lark%d", accountCounter.Add(1))}
	var user struct {
		ID int64 `json:"id"`
	}
	if err := s.sendRequest(adminName, http.MethodPost, "admin/users", map[string]any{
		"username": a.Name, "password": accountPassword, "email": a.Name + "@example.org", "full_name": "Lark <Oduya>",
		"must_change_password": false,
	}, &user); err != nil {
		return nil, err
	}
	a.id = user.ID
	var token struct {
		Secret string `json:"sha1"`
	}
	err := a.Send(http.MethodPost, "users/"+a.Name+"/tokens",
		map[string]any{"name": "pdpp", "scopes": []string{"read:user", "read:repository", "read:issue"}}, &token)
	a.Token = token.Secret
	return a, err
}

// Send makes one request of the person's own.
func (a *Account) Send(method, path string, body, into any) error {
	return a.server.sendRequest(a.Name, method, path, body, into)
}

func (s *Server) sendRequest(who, method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, s.URL+"api/v1/"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.SetBasicAuth(who, accountPassword)
	req.Header.Set("Content-Type", "application/json")
	return realserver.RequestJSON(req, into)
}

// Next returns a number that was not used before.
func (a *Account) Next() int { a.made++; return a.made }

// Repository makes one; with a first commit pull requests can be opened in it.
func (a *Account) Repository(commit bool) (path string, err error) {
	name := fmt.Sprintf("kiln-%d", a.Next())
	return "repos/" + a.Name + "/" + name, a.Send(http.MethodPost, "user/repos", map[string]any{
		"name": name, "description": "Clay & <glaze>", "private": a.made%2 == 0, "auto_init": commit,
		"default_branch": "main"}, nil)
}

// OtherRepository creates a public repository of another person.
func (a *Account) OtherRepository() (path string, err error) {
	name := fmt.Sprintf("%s-%d", a.Name, a.Next())
	return "repos/" + adminName + "/" + name,
		a.server.sendRequest(adminName, http.MethodPost, "user/repos",
			map[string]any{"name": name, "description": "Of others"}, nil)
}

// Issue opens one.
func (a *Account) Issue(repository string) (number int64, err error) {
	n := a.Next()
	var made struct {
		Number int64 `json:"number"`
	}
	err = a.Send(http.MethodPost, repository+"/issues", map[string]any{"title": fmt.Sprintf("Crack %d ünder glaze 🏺", n),
		"body": fmt.Sprintf("Line one\n\n- <b>two</b> %d", n)}, &made)
	return made.Number, err
}

// Comment adds a comment to an issue or a pull request.
func (a *Account) Comment(repository string, number int64) error {
	return a.Send(http.MethodPost, fmt.Sprintf("%s/issues/%d/comments", repository, number),
		map[string]any{"body": fmt.Sprintf("Said %d", a.Next())}, nil)
}

// Pull opens a pull request that adds one line.
func (a *Account) Pull(repository string) error {
	n := a.Next()
	branch := fmt.Sprintf("slow-%d", n)
	if err := a.Send(http.MethodPost, fmt.Sprintf("%s/contents/note-%d.txt", repository, n), map[string]any{
		"content": base64.StdEncoding.EncodeToString([]byte("one line\n")), "message": "Say more", "branch": "main",
		"new_branch": branch}, nil); err != nil {
		return err
	}
	if err := a.Send(http.MethodPost, repository+"/pulls",
		map[string]any{"title": fmt.Sprintf("Slower %d", n), "body": "Why not", "head": branch, "base": "main"},
		nil); err != nil {
		return err
	}
	return a.server.waitUntilIdle()
}

// Merge takes a pull request in.
func (a *Account) Merge(pull string) error {
	if err := a.Send(http.MethodPost, pull+"/merge", map[string]any{"Do": "merge"}, nil); err != nil {
		return err
	}
	return a.server.waitUntilIdle()
}
