package service

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// played is a source that notes when it was asked to do something.
type played struct {
	id     string
	root   string
	mu     sync.Mutex
	passes int
	waits  []bool // whether history waited, by pass
	long   bool   // a pass goes on until it is ended
	beats  int
	wanted bool
	result PassResult
}

func (p *played) ID() string                     { return p.id }
func (p *played) Roots(context.Context) []string { return []string{p.root} }

func (p *played) Pass(ctx context.Context, historyWaits bool) PassResult {
	p.mu.Lock()
	p.passes++
	p.waits = append(p.waits, historyWaits)
	long := p.long && !historyWaits
	result := p.result
	p.mu.Unlock()
	if long {
		<-ctx.Done()
	}
	return result
}

func (p *played) Beat(context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beats++
	wanted := p.wanted
	p.wanted = false
	return wanted
}

func (p *played) count() (passes, beats int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passes, p.beats
}

// TestServiceDay lets two sources live for some hours of virtual time.
func TestServiceDay(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a", "session.jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		quietly := slog.New(slog.DiscardHandler)
		busy := &played{id: "a", root: filepath.Dir(file)}
		idle := &played{id: "b", root: filepath.Join(dir, "b")}
		var charged atomic.Bool
		s := &Service{Log: quietly, Sources: func() ([]Source, error) { return []Source{busy, idle}, nil },
			Power: func(context.Context) Power {
				return Power{OnBattery: true, Percent: map[bool]int{false: 5, true: 80}[charged.Load()]}
			}}
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		time.Sleep(10 * time.Second)
		if passes, _ := busy.count(); passes != 1 {
			t.Errorf("%d passes at first", passes)
		}
		write("one\ntwo\n")
		time.Sleep(8 * time.Second)
		if passes, _ := busy.count(); passes != 2 {
			t.Errorf("a line was followed by %d passes within 8 s", passes-1)
		}
		time.Sleep(5 * time.Minute)
		busy.mu.Lock()
		if len(busy.waits) != 2 || !busy.waits[0] || !busy.waits[1] {
			t.Errorf("on a low battery history waited: %v", busy.waits)
		}
		busy.long = true
		busy.mu.Unlock()
		charged.Store(true)
		time.Sleep(2 * time.Minute) // what waited is read, and takes long
		charged.Store(false)
		time.Sleep(2 * time.Minute)
		busy.mu.Lock()
		if len(busy.waits) != 4 || busy.waits[2] || !busy.waits[3] {
			t.Errorf("history is read when there is power, and cut short when there is none: %v", busy.waits)
		}
		busy.long = false
		busy.mu.Unlock()
		charged.Store(true)
		time.Sleep(3 * time.Hour)
		passes, beats := idle.count()
		// those that history waited in and caught up in, and hourly ones
		if passes < 4 || passes > 6 || beats < 8 || beats > 12 {
			t.Errorf("%d passes, %d heartbeats", passes, beats)
		}
		idle.mu.Lock()
		idle.wanted = true
		idle.mu.Unlock()
		time.Sleep(beatEvery + hotEvery)
		if now, _ := idle.count(); now != passes+1 {
			t.Errorf("the owner's wish was not followed: %d passes", now)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestServiceMakesWayForANewVersion(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("1"), 0o700); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := &Service{Log: slog.New(slog.DiscardHandler), Executable: program,
			Sources: func() ([]Source, error) { return nil, errors.New("unreadable") }}
		done := make(chan error)
		go func() { done <- s.Run(t.Context()) }()
		time.Sleep(time.Hour)
		if err := errors.Join(os.WriteFile(program+".new", []byte("2"), 0o700),
			os.Rename(program+".new", program)); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, ErrUpgraded) {
			t.Error(err)
		}
	})
}
