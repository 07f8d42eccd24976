package consoletest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/view"
)

// The demonstration starts once and serves all subtests that need connections in several states.
// It stops on a signal and leaves nothing behind.
func TestDemo(t *testing.T) {
	t.Parallel()
	h := found(t)
	h.open("demo")
	t.Run("its states", func(t *testing.T) { states(t, h) })
	t.Run("its pages", func(t *testing.T) { tour(t, h) })
	t.Run("an app asks", func(t *testing.T) { consent(t, h) })
	t.Run("an owner reads", func(t *testing.T) { reads(t, h) })
	t.Run("its exports", func(t *testing.T) { exportsLists(t, h) })
	t.Run("an owner adds", func(t *testing.T) { adds(t, h) })
	t.Run("its end", func(t *testing.T) { goes(t, h) })
}

// states waits until each of the connections to services has been in the state that it is meant to
// show, by the shipped parts' own judgement.
func states(t *testing.T, h *house) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	owner := &http.Client{Jar: jar}
	resp, err := owner.PostForm(h.ready.URL+"/login", url.Values{"password": {h.ready.Password}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	want := map[string]string{
		"cin_example_1":         "green calm",
		"cin_example_browser_1": "amber attention: add_info",
		"cin_example_2":         "amber calm, catching up, with a pace",
		"cin_github_1":          "red attention: reauth",
		"cin_harbour_1":         "red advisory: code_fix",
		"cin_paperbox_1":        "green advisory: refresh_now",
		"cin_shelf_1":           "amber attention: add_info, recovery",
	}
	seen := map[string]string{}
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	deadline := time.After(10 * time.Minute)
	for len(want) > 0 {
		for _, c := range demoConnections(t, owner, h.ready.URL) {
			seen[c.ID] = stateWords(&c)
			if want[c.ID] == seen[c.ID] {
				delete(want, c.ID) // it has been there; what catches up goes on
			}
		}
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("never reached: %v\nat last: %v", want, seen)
		}
	}
}

// goes stops the demonstration. The open page reports the lost connection and keeps its content.
func goes(t *testing.T, h *house) {
	b := h.signIn(t)
	b.visit("/sources")
	b.until(`document.querySelectorAll("[data-connection]").length >= 6`)
	if err := h.process.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := h.process.Wait(); err != nil {
		t.Errorf("ended by Ctrl-C: %v", err)
	}
	h.process = nil
	left, err := os.ReadDir(h.temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	b.until(`document.querySelector("#lost")?.innerText.trim() !== ""`)
	if n := len(b.all("[data-connection]")); n < 6 {
		t.Errorf("%d connections are left on the page", n)
	}
	b.shoot("lost")
}

func demoConnections(t *testing.T, owner *http.Client, base string) []view.Connection {
	t.Helper()
	resp, err := owner.Get(base + "/_ref/connections")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct {
		Data []view.Connection `json:"data"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the connections: %d, %v", resp.StatusCode, err)
	}
	return list.Data
}

// stateWords is a connection's verdict in a line.
func stateWords(c *view.Connection) string {
	v := &c.Verdict
	line := fmt.Sprintf("%s %s", v.Pill.Tone, v.Channel)
	if len(v.RequiredActions) > 0 && v.Channel != "calm" {
		line += ": " + string(v.RequiredActions[0].Kind)
	}
	var more []string
	if c.CatchUp != nil {
		more = append(more, "catching up")
	}
	if v.Detail.Rate != nil && c.CatchUp != nil {
		more = append(more, "with a pace")
	}
	if c.Recovery != nil {
		more = append(more, "recovery")
	}
	return strings.Join(append([]string{line}, more...), ", ")
}
