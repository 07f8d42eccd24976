// Package demo is a small world for trying PDPP: simulated services with limits that the connectors do not know, and
// connections in seven states, each reached by the shipped parts. Nothing leaves the machine.
package demo

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/github"
	"github.com/pdpp-go/pdpp/providersim/sample"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// World is the simulated services.
type World struct {
	// Variables are the variables for the server's connectors.
	Variables map[string]string
	// GitHubToken is the one that GitHub accepts.
	GitHubToken string
	// Diary is who can sign in to the diary; nil where there is no browser to read it in.
	Diary *signin.Account

	notebookToken, archiveToken string
	notebooks                   *providersim.Server
	github                      *github.Server
	diary                       *signin.Server
}

// latency is what an answer over the internet takes.
const latency = 40 * time.Millisecond

// browserLocal names the addresses of this machine that a browser may open.
const browserLocal = "PDPP_BROWSER_LOCAL"

// StartWorld starts the services on loopback. The diary needs a browser and is left out without one.
func StartWorld(browser bool) (*World, error) {
	notebook := sample.New(sample.Config{Seed: 7, Events: 123, Notes: 91, Threads: 27, Latency: latency})
	archive := sample.New(sample.Config{Seed: 8, Events: 900, Notes: 300, Threads: 1500, Latency: latency})
	// A limit that is not announced, which the governor has to find. From time to time the archive also requests a
	// pause that is longer than a run waits.
	limits := []providersim.Fault{{Kind: providersim.Bucket, Path: "/v1/threads/", Rate: 4, Burst: 6,
		RetryAfter: providersim.RetrySeconds}}
	for _, after := range []int{100, 500, 900} {
		limits = append(limits, providersim.Fault{
			Kind: providersim.Throttle, Path: "/v1/threads/", Skip: after, Count: 1, RetryAfter: providersim.RetrySeconds,
			Seconds: 330,
		})
	}
	for _, limit := range limits {
		if _, err := archive.Gate().Add(limit); err != nil {
			return nil, fmt.Errorf("set the archive's limit: %w", err)
		}
	}
	accounts := map[string]http.Handler{notebook.Token(): notebook.Handler(), archive.Token(): archive.Handler()}
	front := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		account, ok := accounts[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		if !ok {
			account = notebook.Handler() // which refuses a token that it does not know
		}
		account.ServeHTTP(w, r)
	})
	w := &World{notebookToken: notebook.Token(), archiveToken: archive.Token()}
	var err error
	if w.notebooks, err = providersim.Serve(providersim.FreeLoopback, front, providersim.FreeLoopback,
		providersim.ControlHandler(archive, archive.Gate())); err != nil {
		return nil, fmt.Errorf("start the simulated notebook: %w", err)
	}
	w.github, err = github.Start(github.Config{Seed: 9, Repositories: 14, Stars: 35, Issues: 40, Pulls: 22, Gists: 5,
		Events: 60, Latency: latency})
	if err != nil {
		w.Stop()
		return nil, fmt.Errorf("start the simulated GitHub: %w", err)
	}
	w.GitHubToken = w.github.Sim.Token()
	// The owner's pace limit: these services accept more than a real one, and a demonstration should be quick.
	w.Variables = map[string]string{
		"PDPP_EXAMPLE_BASE_URL": w.notebooks.BaseURL, "PDPP_EXAMPLE_PACING_INITIAL_INTERVAL_MS": "60",
		"PDPP_EXAMPLE_PACING_MIN_INTERVAL_MS": "40",
		"PDPP_GITHUB_BASE_URL":                w.github.BaseURL, "PDPP_GITHUB_PACING_INITIAL_INTERVAL_MS": "100",
		"PDPP_GITHUB_PACING_MIN_INTERVAL_MS": "60",
	}
	if browser {
		if err := w.startDiary(); err != nil {
			w.Stop()
			return nil, err
		}
	}
	return w, nil
}

func (w *World) startDiary() (err error) {
	if w.diary, err = signin.StartDiary(signin.DiaryConfig{Entries: 60}); err != nil {
		return fmt.Errorf("start the simulated diary: %w", err)
	}
	at, err := url.Parse(w.diary.BaseURL)
	if err != nil {
		return fmt.Errorf("read the diary's address: %w", err)
	}
	w.Diary = &signin.Person
	w.Variables["PDPP_EXAMPLE_BROWSER_BASE_URL"], w.Variables[browserLocal] = w.diary.BaseURL, at.Host
	return nil
}

// Stop ends the services.
func (w *World) Stop() {
	if w.notebooks != nil {
		_ = w.notebooks.Close() // it is thrown away
	}
	if w.github != nil {
		_ = w.github.Close()
	}
	if w.diary != nil {
		_ = w.diary.Close()
	}
}
