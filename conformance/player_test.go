package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// player is a correct connector except for its habits.
type player struct {
	habits  []string
	in      *bufio.Reader
	out     *bufio.Writer
	start   start
	records int
}

type start struct {
	Scope struct {
		Streams []struct {
			Name      string
			Resources []string
			Fields    []string
			TimeRange *struct{ Since, Until string } `json:"time_range"`
		}
	}
	State        map[string]struct{ After string }
	Bindings     map[string]any
	DetailGaps   []gapEntry `json:"detail_gaps"`
	RecoveryOnly bool       `json:"recovery_only"`
	Allowances   bool
}

type gapEntry struct {
	ID     string `json:"gap_id"`
	Lease  string `json:"lease_id"`
	Stream string
	Key    string `json:"record_key"`
}

const (
	letters = 12
	threads = 5
)

func play(habits []string) int {
	p := &player{habits: habits, in: bufio.NewReader(os.Stdin), out: bufio.NewWriter(os.Stdout)}
	defer p.out.Flush()
	if p.has("speaks first") {
		p.progress()
	}
	if line, err := p.in.ReadBytes('\n'); err != nil {
		if p.has("succeeds without START") {
			p.say("DONE", map[string]any{"status": "succeeded", "records_emitted": 0})
		} else if p.has("refuses in a DONE") {
			p.say("DONE", map[string]any{"status": "failed", "records_emitted": 0,
				"error": map[string]any{"code": "no_start", "message": "stdin ended before START", "retryable": false}})
		}
		return p.pick("starts without START", 0, 2)
	} else if err := json.Unmarshal(line, &p.start); err != nil {
		return 2
	}
	if p.has("ignores SIGTERM") {
		signal.Ignore(syscall.SIGTERM)
	}
	if code := p.signIn(); code >= 0 {
		return code
	}
	if p.has("tells its token") {
		fmt.Fprintln(os.Stderr, "using", os.Getenv("LANTERNMAIL_TOKEN"))
	}
	if p.start.Allowances {
		p.share()
	}
	p.recover()
	if !p.start.RecoveryOnly || p.has("ignores recovery_only") {
		p.letters()
		p.lane()
	}
	return p.end()
}

func (p *player) has(habit string) bool { return slices.Contains(p.habits, habit) }

func (p *player) pick(habit string, yes, no int) int {
	if p.has(habit) {
		return yes
	}
	return no
}

// say writes one message at once.
func (p *player) say(kind string, members map[string]any) {
	members["type"] = kind
	line, _ := json.Marshal(members)
	line = append(line, '\n')
	if p.has("drops what is not taken") {
		_ = syscall.SetNonblock(1, true)
		_, _ = syscall.Write(1, line) // output is lost if it is not read in time
		return
	}
	_, _ = p.out.Write(line)
	_ = p.out.Flush()
}

func (p *player) progress() { p.say("PROGRESS", map[string]any{"message": "Reading"}) }

// signIn returns the exit code of a run that ends here, or a negative number to continue.
func (p *player) signIn() int {
	if os.Getenv("LANTERNMAIL_TOKEN") != "" || p.has("needs no token") {
		return -1
	}
	_, interactive := p.start.Bindings["interactive"]
	if interactive || p.has("asks nobody") {
		p.say("INTERACTION", map[string]any{"request_id": "q1", "kind": "missing_credentials", "message": "The token?"})
		if p.has("speaks while asking") {
			p.progress()
		}
		answer, err := p.in.ReadString('\n')
		if err == nil && strings.Contains(answer, `"success"`) {
			return -1
		}
		if p.has("succeeds without an answer") {
			p.say("DONE", map[string]any{"status": "succeeded", "records_emitted": 0})
			return 0
		}
		if p.has("asks for ever") {
			p.hang()
		}
	}
	text := "set LANTERNMAIL_TOKEN"
	if p.has("names nothing") {
		text = "something went wrong"
	}
	p.say(
		"DONE",
		map[string]any{
			"status":          "failed",
			"records_emitted": 0,
			"error":           map[string]any{"code": "auth_failure", "message": text},
		},
	)
	return 1
}

// share uses a shared quota, and continues without waiting.
func (p *player) share() {
	if p.has("tells before it joins") {
		p.say("ALLOWANCE", map[string]any{"sender": "api", "news": map[string]any{"n": 1}})
		return
	}
	p.say("ALLOWANCE", map[string]any{"request_id": "a1", "sender": "api", "provider": "lanternmail", "account": "ann"})
	_, _ = p.in.ReadString('\n')
}

func (p *player) hang() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // a program that waits for nothing would end as deadlocked
	select {}
}

func (p *player) record(stream, key string, data map[string]any) {
	p.records++
	p.say("RECORD", map[string]any{"stream": stream, "key": key, "data": data, "emitted_at": "2026-03-01T08:00:00Z"})
}

func (p *player) letters() {
	i := slices.IndexFunc(p.start.Scope.Streams, func(s struct {
		Name      string
		Resources []string
		Fields    []string
		TimeRange *struct{ Since, Until string } `json:"time_range"`
	}) bool {
		return s.Name == "letters"
	})
	if i < 0 && !p.has("ignores scope") {
		return
	}
	after := p.start.State["letters"].After
	if p.has("ignores its cursor") || p.start.RecoveryOnly {
		after = ""
	}
	for n := range letters {
		key := fmt.Sprintf("l%02d", n)
		data := map[string]any{
			"id":         key,
			"text":       strings.Repeat("x", p.pick("ignores SIGTERM", 40_000, p.pick("drops what is not taken", 900, 9))),
			"written_at": fmt.Sprintf("2026-01-%02dT00:00:00Z", n+1),
		}
		if key <= after || i >= 0 && p.leaves(i, key, data) {
			continue
		}
		switch {
		case n == 2 && p.has("writes garbage"):
			fmt.Fprintln(p.out, "Traceback (most recent call last):")
		case n == 2 && p.has("wrong key"):
			data["id"] = "other"
		case n == 2 && p.has("breaks its schema"):
			data["text"] = 7
		case n == 2 && p.has("sends an unknown stream"):
			p.record("calls", "c1", map[string]any{"id": "c1"})
		case n == 2 && p.has("never done"):
			p.hang()
		case n == 2 && p.has("crashes"):
			fmt.Fprintln(os.Stderr, "lost the connection")
			syscall.Exit(3)
		}
		if n%4 == 0 && p.has("cursor ahead of records") {
			p.state("letters", fmt.Sprintf("l%02d", n+3))
		}
		p.record("letters", key, data)
		if n%4 == 3 && !p.has("cursor ahead of records") {
			p.state("letters", key)
		}
	}
}

// leaves applies the scope, unless a habit ignores it.
func (p *player) leaves(i int, key string, data map[string]any) bool {
	s := p.start.Scope.Streams[i]
	if p.has("ignores scope") {
		return false
	}
	if s.Fields != nil {
		for name := range data {
			if !slices.Contains(s.Fields, name) {
				delete(data, name)
			}
		}
	}
	if s.TimeRange != nil && p.has("leaves out what is asked for") {
		return true
	}
	return s.Resources != nil && !slices.Contains(s.Resources, key) ||
		s.TimeRange != nil && fmt.Sprint(data["written_at"]) < s.TimeRange.Since
}

func (p *player) state(stream, after string) {
	p.say("STATE", map[string]any{"stream": stream, "cursor": map[string]any{"after": after}})
}

func (p *player) asked(stream string) bool {
	for _, s := range p.start.Scope.Streams {
		if s.Name == stream && s.Resources == nil {
			return true
		}
	}
	return false
}

// lane lists the threads and fetches the message of each, up to the owner's cap.
func (p *player) lane() {
	if !p.asked("threads") {
		return
	}
	limit := threads
	if n, err := strconv.Atoi(
		os.Getenv("PDPP_LANTERNMAIL_MAX_DETAIL_FETCHES_PER_RUN"),
	); err == nil &&
		!p.has("ignores the cap") {
		limit = n
	}
	var keys, fetched, left []string
	for n := range threads {
		key := fmt.Sprintf("t%d", n)
		keys = append(keys, key)
		p.record("threads", key, map[string]any{"id": key})
		if !p.asked("messages") {
			continue
		}
		if n < limit {
			fetched = append(fetched, key)
			p.record("messages", key, map[string]any{"id": key})
			continue
		}
		left = append(left, key)
		reason := "run_cap_deferred"
		if p.has("blames the provider") {
			reason = "rate_limited"
		}
		if !p.has("says nothing of what it left") {
			p.say("DETAIL_GAP", map[string]any{"stream": "messages", "record_key": key, "reason": reason, "retryable": true})
		}
	}
	p.state("threads", "t9")
	if p.asked("messages") && !p.has("accounts for nothing") {
		p.say(
			"DETAIL_COVERAGE",
			map[string]any{
				"stream":        "messages",
				"state_stream":  "threads",
				"required_keys": keys,
				"hydrated_keys": fetched,
				"gap_keys":      left,
			},
		)
	}
}

// recover fetches the served gaps, page by page.
func (p *player) recover() {
	if p.has("leaves gaps alone") {
		return
	}
	for page := p.start.DetailGaps; len(page) > 0; {
		for _, g := range page {
			ref := map[string]any{"gap_id": g.ID, "lease_id": g.Lease, "stream": g.Stream}
			if p.has("makes leases up") {
				ref["lease_id"] = "mine"
			}
			p.say("DETAIL_GAP_ATTEMPTED", ref)
			p.record("messages", g.Key, map[string]any{"id": g.Key})
			if !p.has("forgets the outcome") {
				p.say("DETAIL_GAP_RECOVERED", ref)
			}
		}
		p.say("DETAIL_GAPS_PAGE_REQUEST", map[string]any{"request_id": "p"})
		line, err := p.in.ReadBytes('\n')
		var next start
		if err != nil || json.Unmarshal(line, &next) != nil {
			return
		}
		page = next.DetailGaps
	}
}

func (p *player) end() int {
	if p.has("no DONE") {
		return 0
	}
	p.say("DONE", map[string]any{"status": "succeeded", "records_emitted": p.records + p.pick("miscounts", 1, 0)})
	if p.has("two DONEs") {
		p.say("DONE", map[string]any{"status": "succeeded", "records_emitted": p.records})
	}
	return p.pick("wrong exit code", 4, 0)
}
