package gitea_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/gitea"
	"github.com/pdpp-go/pdpp/providersim"
)

var shared = realserver.Shared[*gitea.Server]{
	Start: func(dir string) (*gitea.Server, func() error, error) {
		return gitea.Start(os.Getenv(gitea.Variable), dir, 3)
	},
}

func TestMain(m *testing.M) { shared.Main(m) }

// served is the target of the suite on a real server.
func served(t *testing.T, issues int) connectortest.Target {
	t.Helper()
	out := target(t, simulated)
	out.Start = func(t *testing.T) *connectortest.Sim { return openTestAccount(t, issues) }
	out.Beside = true
	out.Changes = []providersim.Mutation{
		{Op: "open_issue", N: 3}, {Op: "edit_issue", N: 3}, {Op: "close_issue", N: 2}, {Op: "open_pull", N: 1},
		{Op: "merge_pull", N: 1}, {Op: "comment", N: 3}, {Op: "edit_comment", N: 2},
		{Op: "delete_comment", N: 1}, {Op: "star", N: 2}, {Op: "unstar", N: 1}, {Op: "create_repository", N: 1},
		{Op: "describe_repository", N: 1}, {Op: "open_elsewhere", N: 2}, {Op: "introduce", N: 1},
	}
	return out
}

// person is an account. The server's tables show what exists.
type person struct{ *gitea.Account }

// openTestAccount creates an account with two repositories, one of them with pull requests, and an issue in another
// person's repository, all an hour old.
func openTestAccount(t testing.TB, issues int) *connectortest.Sim {
	t.Helper()
	server := shared.Get(t)
	account, err := server.Open()
	if err != nil {
		t.Fatal(err)
	}
	p := person{account}
	for _, commit := range []bool{true, false} {
		path, err := p.Repository(commit)
		if err != nil {
			t.Fatal(err)
		}
		for i := range issues / 2 {
			n, err := p.Issue(path)
			if err == nil && i%2 == 0 {
				err = p.Comment(path, n)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, m := range []providersim.Mutation{{Op: "open_pull", N: 2}, {Op: "star", N: 3}, {Op: "open_elsewhere", N: 1}} {
		if _, err := p.Mutate(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Age(time.Hour); err != nil {
		t.Fatal(err)
	}
	gate := providersim.NewGate(providersim.GateOptions{})
	front := realserver.StartFront(t, gate, strings.TrimSuffix(server.URL, "/"), "/api/v1/user/{list}",
		"/api/v1/repos/{owner}/{name}/{list...}")
	return &connectortest.Sim{Provider: p, Gate: gate, Env: map[string]string{"GITEA_URL": front, "GITEA_TOKEN": p.Token}}
}

// Truth is what the server's tables hold.
func (p person) Truth() providersim.Truth {
	all, err := p.Tables(context.Background())
	if err != nil {
		panic(err)
	}
	return realserver.GroundTruth(all)
}

// Mutate changes the account as the person does, so many times.
func (p person) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	done := providersim.Mutated{Op: m.Op, Now: time.Now()}
	for range max(m.N, 1) {
		if err := p.change(m.Op); err != nil {
			return done, fmt.Errorf("%s: %w", m.Op, err)
		}
	}
	return done, nil
}

func (p person) change(op string) error {
	repositories, err := p.paths()
	if err != nil {
		return err
	}
	first := repositories[0]
	n := p.Next()
	words := fmt.Sprintf("Changed <%d>", n)
	switch op {
	case "open_issue":
		_, err = p.Issue(repositories[n%len(repositories)])
	case "open_pull":
		err = p.Pull(first)
	case "create_repository":
		_, err = p.Repository(false)
	case "describe_repository":
		err = p.Send(http.MethodPatch, first, map[string]any{"description": words}, nil)
	case "introduce":
		err = p.Send(http.MethodPatch, "user/settings", map[string]any{"description": words}, nil)
	case "open_elsewhere", "star":
		other, e := p.OtherRepository()
		if err = e; err == nil && op == "star" {
			err = p.Send(http.MethodPut, "user/starred/"+strings.TrimPrefix(other, "repos/"), nil, nil)
		} else if err == nil {
			_, err = p.Issue(other)
		}
	case "unstar":
		var name string
		if name, err = p.any("starred", n, "full_name"); err == nil {
			err = p.Send(http.MethodDelete, "user/starred/"+name, nil, nil)
		}
	case "edit_comment", "delete_comment":
		return p.changeComment(op, n, words)
	default:
		return p.changeIssue(op, n, words)
	}
	return err
}

// ChangeToken is not what a token does.
func (person) ChangeToken(providersim.TokenChange) (providersim.TokenStatus, error) {
	return providersim.TokenStatus{}, nil
}

// paths are the person's own repositories, the oldest first.
func (p person) paths() (out []string, err error) {
	all, err := p.Tables(context.Background())
	if err != nil {
		return nil, err
	}
	ids := []int{}
	for key := range all["repositories"] {
		id, _ := strconv.Atoi(key) // the server counts
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		out = append(out, "repos/"+member(all["repositories"][strconv.Itoa(id)], "full_name"))
	}
	return out, nil
}

// any returns a member of one record of a stream.
func (p person) any(stream string, n int, name string) (string, error) {
	all, err := p.Tables(context.Background())
	if err != nil {
		return "", err
	}
	keys := slices.Sorted(maps.Keys(all[stream]))
	if len(keys) == 0 {
		return "", fmt.Errorf("there are no %s", stream)
	}
	return member(all[stream][keys[n%len(keys)]], name), nil
}

// member is one of a record, as text.
func member(record json.RawMessage, name string) string {
	var members map[string]any
	_ = json.Unmarshal(record, &members) // what is no record has no member
	return fmt.Sprint(members[name])
}

func (p person) changeComment(op string, n int, words string) error {
	all, err := p.Tables(context.Background())
	if err != nil {
		return err
	}
	keys := slices.Sorted(maps.Keys(all["comments"]))
	key := keys[n%len(keys)]
	path := "repos/" + member(all["comments"][key], "repository_full_name") + "/issues/comments/" + key
	if op == "delete_comment" {
		return p.Send(http.MethodDelete, path, nil, nil)
	}
	return p.Send(http.MethodPatch, path, map[string]any{"body": words}, nil)
}

// changeIssue changes an open issue, or pull request, of the person's own repositories.
func (p person) changeIssue(op string, n int, words string) error {
	all, err := p.Tables(context.Background())
	if err != nil {
		return err
	}
	stream := "issues"
	if op == "merge_pull" {
		stream = "pulls"
	}
	var paths []string
	for _, record := range all[stream] {
		if full := member(record, "repository_full_name"); member(record, "state") == "open" &&
			strings.HasPrefix(full, p.Name+"/") {
			paths = append(paths, "repos/"+full+"/"+stream+"/"+member(record, "number"))
		}
	}
	slices.Sort(paths)
	if len(paths) == 0 {
		return errors.New("there is none")
	}
	path := paths[n%len(paths)]
	switch op {
	case "edit_issue":
		return p.Send(http.MethodPatch, path, map[string]any{"body": words}, nil)
	case "close_issue":
		return p.Send(http.MethodPatch, path, map[string]any{"state": "closed"}, nil)
	case "comment":
		repository, number, _ := strings.Cut(path, "/issues/")
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return err
		}
		return p.Comment(repository, id)
	case "delete_issue":
		return p.Send(http.MethodDelete, path, nil, nil)
	case "merge_pull":
		return p.Merge(path)
	default:
		return fmt.Errorf("no operation %q", op)
	}
}
