package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// newList returns a service with one list of five rows at /list.
func newList(o rest.Options, p rest.Pager) *rest.Service {
	if o.Token = "secret"; o.Clock.IsZero() {
		o.Clock = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	}
	s := rest.New(o)
	s.Open(&rest.Collection{Stream: "list", Count: 5, Route: "GET /list", Pager: p,
		New:  func(row *rest.Row) { row.Data = rest.Object{"id": s.NextID()}; s.Advance(time.Hour) },
		Edit: func(row *rest.Row) { row.Data["edited"] = true }})
	return s
}

// get sends a request with pairs of headers.
func get(s *rest.Service, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://sim.test"+target, nil)
	r.Header.Set("Authorization", "Bearer secret")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// listed returns the ids of an answer's rows, and the body's other members.
func listed(t *testing.T, w *httptest.ResponseRecorder) (ids []int, body map[string]any) {
	t.Helper()
	var rows []map[string]any
	if w.Code != http.StatusOK {
		t.Fatalf("answered %d: %s", w.Code, w.Body)
	}
	if json.Unmarshal(w.Body.Bytes(), &rows) != nil {
		var all struct{ Items []map[string]any }
		if json.Unmarshal(w.Body.Bytes(), &all) != nil || json.Unmarshal(w.Body.Bytes(), &body) != nil {
			t.Fatalf("answered %s", w.Body)
		}
		rows = all.Items
	}
	for _, row := range rows {
		ids = append(ids, int(row["id"].(float64)))
	}
	return ids, body
}

var nextLink = regexp.MustCompile(`<http://sim.test([^>]*)>; rel="next"`)

// walk reads a list to its end and returns its pages.
func walk(t *testing.T, s *rest.Service, p rest.Pager) (pages []string) {
	t.Helper()
	target := "/list?color=red"
	for range 20 {
		w := get(s, target)
		ids, body := listed(t, w)
		pages = append(pages, strings.Trim(fmt.Sprint(ids), "[]"))
		next, _ := body["next"].(string)
		switch {
		case p.Link:
			found := nextLink.FindStringSubmatch(w.Header().Get("Link"))
			if found == nil {
				return pages
			}
			target = found[1]
		case p.Next == "" && p.Style == rest.Number:
			if len(ids) == 0 {
				return pages
			}
			target = fmt.Sprintf("/list?color=red&%s=%d", p.Place, len(pages)+1)
		case next == "":
			return pages
		case p.Address:
			target = strings.TrimPrefix(next, "http://sim.test")
		default:
			target = "/list?color=red&" + p.Place + "=" + url.QueryEscape(next)
		}
	}
	t.Fatal("the list has no end")
	return nil
}

func TestPages(t *testing.T) {
	t.Parallel()
	token := rest.Pager{Style: rest.Token, Place: "cursor", Usual: 2, Items: "items", Next: "next"}
	gaps, capped, whole := token, token, rest.Pager{Items: "items", Total: "total"}
	gaps.Gaps, capped.Cap = true, 3
	capped.Usual = 4
	for name, c := range map[string]struct {
		pager rest.Pager
		fault *providersim.Fault
		want  string
	}{
		"whole":  {whole, nil, "1 2 3 4 5"},
		"number": {rest.Pager{Style: rest.Number, Place: "page", Usual: 2}, nil, "1 2|3 4|5|"},
		"next address": {rest.Pager{Style: rest.Offset, Place: "offset", Usual: 2, Items: "items", Next: "next",
			Address: true}, nil, "1 2|3 4|5"},
		"Link": {rest.Pager{Style: rest.Number, Place: "page", Size: "per_page", Usual: 2, Link: true}, nil,
			"1 2|3 4|5"},
		"token":       {token, nil, "1 2|3 4|5"},
		"cap":         {capped, nil, "1 2 3|4 5"},
		"empty pages": {gaps, nil, "1 2|3 4||5"},
		"short pages": {token, &providersim.Fault{Kind: providersim.ShortPages, Items: 1}, "1|2|3|4|5"},
		"empty page":  {token, &providersim.Fault{Kind: providersim.EmptyPages, Skip: 1, Count: 1}, "1 2||3 4|5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newList(rest.Options{}, c.pager)
			if c.fault != nil {
				if _, err := s.Gate().Add(*c.fault); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join(walk(t, s, c.pager), "|"); got != c.want {
				t.Errorf("pages %q, want %q", got, c.want)
			}
		})
	}
}

// TestDetails reads the children of a row and one row.
func TestDetails(t *testing.T) {
	t.Parallel()
	s := rest.New(rest.Options{Token: "secret"})
	s.Open(&rest.Collection{Stream: "tasks", Count: 4, Route: "GET /lists/{list}/tasks", Detail: "GET /tasks/{id}",
		Pager: rest.Pager{Items: "items"},
		New:   func(row *rest.Row) { row.Data = rest.Object{"id": row.N, "list": row.N % 2} },
		Fits:  func(r *http.Request, row *rest.Row) bool { return fmt.Sprint(row.Data["list"]) == r.PathValue("list") }})
	if ids, _ := listed(t, get(s, "/lists/1/tasks")); fmt.Sprint(ids) != "[1 3]" {
		t.Errorf("list 1 has the tasks %v", ids)
	}
	s.Rows["tasks"][2].Gone = true
	for target, want := range map[string]int{"/tasks/1": 200, "/tasks/2": 404, "/tasks/9": 404} {
		if w := get(s, target); w.Code != want {
			t.Errorf("%s answered %d, want %d", target, w.Code, want)
		}
	}
}

func TestPageParameters(t *testing.T) {
	t.Parallel()
	s := newList(rest.Options{}, rest.Pager{Style: rest.Token, Place: "cursor", Size: "limit", Most: 3, Exact: true,
		Items: "items", Next: "page.next", Total: "page.total"})
	_, body := listed(t, get(s, "/list?limit=3&color=red"))
	page := body["page"].(map[string]any)
	if page["total"] != 5.0 {
		t.Errorf("page %v", page)
	}
	cursor := "&cursor=" + url.QueryEscape(page["next"].(string))
	for target, want := range map[string]int{"/list": 400, "/list?limit=4": 400, "/list?limit=0": 400,
		"/list?limit=x": 400, "/list?limit=3&color=red" + cursor: 200, "/list?limit=3&color=blue" + cursor: 400,
		"/list?limit=2&cursor=x": 400, "/other": 404} {
		if w := get(s, target); w.Code != want {
			t.Errorf("%s answered %d, want %d", target, w.Code, want)
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for name, pager := range map[string]rest.Pager{
		"token":  {Style: rest.Token, Place: "cursor", Usual: 9, Items: "items", Next: "next", Since: "since", Sync: "sync"},
		"number": {Items: "items", Since: "since", Sync: "sync", Counted: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newList(rest.Options{}, pager)
			_, body := listed(t, get(s, "/list"))
			since := "/list?since=" + url.QueryEscape(fmt.Sprint(body["sync"]))
			if ids, _ := listed(t, get(s, since)); len(ids) != 0 {
				t.Errorf("nothing changed, and %v are listed", ids)
			}
			changed := map[string]bool{}
			for _, op := range []string{"change_list", "delete_list", "add_list", "late_list"} {
				out, err := s.Mutate(providersim.Mutation{Op: op, N: 1})
				if err != nil {
					t.Fatal(err)
				}
				changed[out.IDs[0]] = true
			}
			w := get(s, since)
			if ids, _ := listed(t, w); len(ids) != len(changed) || !strings.Contains(w.Body.String(), `"deleted":true`) {
				t.Errorf("%v changed, and the list is %s", changed, w.Body)
			}
			if ids, _ := listed(t, get(s, "/list")); len(ids) != 6 {
				t.Errorf("a whole list has %v", ids)
			}
			truth, gone := s.Truth()["list"], 0
			for _, item := range truth {
				if item.Deleted {
					gone++
				}
			}
			if len(truth) != 7 || gone != 1 {
				t.Errorf("%d rows, %d deleted", len(truth), gone)
			}
			if s.Epoch++; name == "token" && get(s, since).Code != http.StatusGone {
				t.Error("an ended token is accepted")
			}
		})
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		credential     rest.Credential
		target, header string
		value          string
	}{
		"word":   {rest.AuthorizationWord("token"), "/list", "Authorization", "token secret"},
		"header": {rest.HeaderKey("X-Key"), "/list", "X-Key", "secret"},
		"query":  {rest.QueryKey("key"), "/list?key=secret", "X-Other", "x"},
		"basic":  {rest.Basic("ann"), "/list", "Authorization", "Basic YW5uOnNlY3JldA=="},
	} {
		s := newList(rest.Options{Credential: c.credential, Scopes: []string{"read"}}, rest.Pager{Items: "items"})
		if w := get(s, c.target, c.header, c.value); w.Code != http.StatusOK {
			t.Errorf("%s: answered %d", name, w.Code)
		}
		if w := get(s, "/list", "Authorization", "Nothing"); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: a request without a credential got %d", name, w.Code)
		}
		s.Handle("GET /scoped", "read", func(*http.Request) rest.Answer { return rest.OK(nil) })
		target := strings.Replace(c.target, "/list", "/scoped", 1)
		for _, change := range []struct {
			action string
			want   int
		}{{"scopes", 403}, {"expire", 401}} {
			if _, err := s.ChangeToken(providersim.TokenChange{Action: change.action}); err != nil {
				t.Fatal(err)
			}
			if w := get(s, target, c.header, c.value); w.Code != change.want {
				t.Errorf("%s: %s answered %d, want %d", name, change.action, w.Code, change.want)
			}
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	s := newList(rest.Options{Now: func() time.Time { return now },
		Limit: rest.Limit{Rate: 2, Window: time.Minute, Announce: true}}, rest.Pager{Items: "items"})
	get(s, "/list")
	now = now.Add(20 * time.Second)
	get(s, "/list")
	if w := get(s, "/list"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "40" {
		t.Errorf("answered %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	now = now.Add(40 * time.Second)
	if w := get(s, "/list"); w.Code != http.StatusOK {
		t.Errorf("after the window: %d", w.Code)
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	s := newList(rest.Options{ETags: true}, rest.Pager{Items: "items"})
	s.Handle("GET /file", "", func(*http.Request) rest.Answer {
		return rest.Answer{Status: http.StatusOK, Body: "text", Modified: time.Date(2026, 3, 1, 8, 0, 0, 5, time.UTC)}
	})
	tag := get(s, "/list").Header().Get("ETag")
	if w := get(s, "/list", "If-None-Match", `"other", `+tag); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
	if _, err := s.Mutate(providersim.Mutation{Op: "change_list", N: 1}); err != nil {
		t.Fatal(err)
	}
	if w := get(s, "/list", "If-None-Match", tag); w.Code != http.StatusOK {
		t.Errorf("a changed list answered %d", w.Code)
	}
	for since, want := range map[string]int{"Sun, 01 Mar 2026 08:00:00 GMT": 304, "Sun, 01 Mar 2026 07:59:59 GMT": 200} {
		if w := get(s, "/file", "If-Modified-Since", since); w.Code != want {
			t.Errorf("since %s: %d", since, w.Code)
		}
	}
}

func TestMutations(t *testing.T) {
	t.Parallel()
	s := newList(rest.Options{}, rest.Pager{Items: "items"})
	s.Operations = map[string]func() string{"none": func() string { return rest.NoRow }}
	for _, m := range []providersim.Mutation{{Op: "unknown", N: 1}, {Op: "add_list"}, {Op: "none", N: 1},
		{Op: "add_other", N: 1}} {
		if _, err := s.Mutate(m); err == nil {
			t.Errorf("%+v is accepted", m)
		}
	}
	out, err := s.Mutate(providersim.Mutation{Op: "change_list", N: 5})
	if err != nil || len(slices.Compact(slices.Sorted(slices.Values(out.IDs)))) != 5 {
		t.Errorf("five rows were to change: %v, %v", out.IDs, err)
	}
	out, err = s.Mutate(providersim.Mutation{Op: "late_list", N: 1})
	if err != nil || s.Find("list", out.IDs[0]).At.After(s.Rows["list"][4].At) {
		t.Errorf("a late row happened last: %v", err)
	}
}
