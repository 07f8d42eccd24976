package davserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/providersim"
)

// Account is a person's place on a server, for calendars or for address books.
type Account struct {
	server *Server
	user   string
	books  bool
	home   string
	feed   string         // address before the path of a collection, for one that is read as feeds
	next   int            // number of the next thing
	shelf  []string       // names of the collections
	edits  map[string]int // of each thing, by its path
}

// accountCounter counts the accounts in use.
var accountCounter atomic.Int64

// Shape is how much an account has.
type Shape struct {
	Collections int
	Things      int // in each of them
	Habits      ServerHabits
}

// CalendarAccount returns a fresh account with calendars. The
// connector reaches it through the front. The variables hold its address and credential.
func CalendarAccount(t testing.TB, s *Server, shape Shape) (*Account, *connectortest.Sim) {
	t.Helper()
	return openAccount(t, s, shape, false, "CALDAV")
}

// AddressBookAccount is Calendars for address books.
func AddressBookAccount(t testing.TB, s *Server, shape Shape) (*Account, *connectortest.Sim) {
	t.Helper()
	return openAccount(t, s, shape, true, "CARDDAV")
}

// FeedAccount is Calendars, each of which is read as a feed: a server returns the whole calendar when
// its address is asked for.
func FeedAccount(t testing.TB, s *Server, shape Shape) (*Account, *connectortest.Sim) {
	t.Helper()
	return openAccount(t, s, shape, false, "ICAL")
}

func openAccount(t testing.TB, s *Server, shape Shape, books bool, prefix string) (*Account, *connectortest.Sim) {
	t.Helper()
	a := &Account{server: s, user: accountName(int(accountCounter.Add(1)) % accountCount), books: books,
		edits: map[string]int{}}
	a.home = s.layout.home(a.user, books)
	if s.layout.own { // what the server created on its own
		made := map[bool]string{true: "addressbook/", false: "calendar/"}[books]
		if err := a.sendRequest(http.MethodDelete, a.home+made, "", nil); err != nil {
			t.Fatalf("empty account: %v", err)
		}
	}
	for range shape.Collections {
		if err := a.addCollection(shape.Things); err != nil {
			t.Fatalf("fill account: %v", err)
		}
	}
	gate := providersim.NewGate(providersim.GateOptions{})
	front := realserver.StartFront(t, gate, startHabitProxy(t, shape.Habits, a.user, "http://"+s.address))
	if prefix == "ICAL" {
		a.feed = front
		var feeds []string
		for _, name := range a.shelf {
			feeds = append(feeds, strings.Replace(front, "://", "://"+a.user+":"+accountPassword+"@", 1)+a.home+name+"/")
		}
		return a, &connectortest.Sim{Provider: a, Gate: gate,
			Env: map[string]string{"ICAL_SUBSCRIPTION_URL": strings.Join(feeds, ",")}}
	}
	return a, &connectortest.Sim{Provider: a, Gate: gate, Env: map[string]string{
		prefix + "_URL": front + s.root, prefix + "_USERNAME": a.user, prefix + "_PASSWORD": accountPassword,
	}}
}

// ChangeToken is for providers with tokens that can be changed from outside.
func (a *Account) ChangeToken(providersim.TokenChange) (providersim.TokenStatus, error) {
	return providersim.TokenStatus{}, errors.New("an app password does not change")
}

// sendRequest makes one request to the server itself.
func (a *Account) sendRequest(method, path, kind string, body []byte, want ...int) error {
	req, err := http.NewRequest(method, "http://"+a.server.address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.SetBasicAuth(a.user, accountPassword)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	for _, status := range append(want, http.StatusCreated, http.StatusNoContent, http.StatusOK, http.StatusMultiStatus) {
		if resp.StatusCode == status {
			return nil
		}
	}
	return fmt.Errorf("%s %s: %s: %.200s", method, path, resp.Status, answer)
}
