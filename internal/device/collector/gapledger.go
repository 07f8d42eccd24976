package collector

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// gapLedger stores, beside the queue, the gaps that the connector could not fetch. The server learns
// that their records are missing, but only this host can fetch them later.
//
// The ledger is a log of JSON lines. A gap is written to disk before the cursor that passes it is
// queued. The gap is removed only after the records that close it are queued. A crash in between
// causes a repeated fetch and never a loss.
type gapLedger struct {
	file *os.File
	gaps map[string]*ledgerGap
	next int64
	// served are the gaps that this run has been handed.
	served map[string]bool
	// waits are the moments before which a provider is not to be asked, by sender.
	waits map[string]time.Time
	// failing is set if the connector's last run failed and that failure was queued for the server.
	failing bool
}

type ledgerGap struct {
	slice.Gap
	Attempts int `json:"attempts,omitzero"`

	order int64
}

// ledgerLine has exactly one member set.
type ledgerLine struct {
	Put     *ledgerGap `json:"put,omitzero"`
	Attempt string     `json:"attempt,omitzero"`
	Drop    string     `json:"drop,omitzero"`
	Wait    *wait      `json:"wait,omitzero"`
	Failing *bool      `json:"failing,omitzero"`
}

// wait records the time before which a sender must not send requests.
type wait struct {
	Sender string    `json:"sender"`
	Until  time.Time `json:"until"`
}

const ledgerExt = ".gaps"

// ledgerSlack is how many spent lines are kept before the log is rewritten.
const ledgerSlack = 1000

// readLedger reads the log without changing it. The result spent reports whether the log should be
// rewritten before it grows.
func readLedger(queue string) (l *gapLedger, spent bool, err error) {
	l = &gapLedger{gaps: map[string]*ledgerGap{}, served: map[string]bool{}, waits: map[string]time.Time{}}
	body, err := os.ReadFile(queue + ledgerExt)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, spent, fmt.Errorf("read the list of gaps: %w", err)
	}
	lines, whole, err := l.replay(body)
	if err != nil {
		return nil, spent, fmt.Errorf("read the list of gaps: %w", err)
	}
	return l, !whole || lines > 2*len(l.gaps)+ledgerSlack, nil
}

func openLedger(queue string) (*gapLedger, error) {
	path := queue + ledgerExt
	l, spent, err := readLedger(queue)
	if err != nil {
		return nil, err
	}
	if spent {
		if err := l.rewrite(path); err != nil {
			return nil, fmt.Errorf("rewrite the list of gaps: %w", err)
		}
	}
	if l.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("open the list of gaps: %w", err)
	}
	return l, nil
}

var errLedgerDamaged = errors.New("it is damaged")

func (l *gapLedger) close() error { return l.file.Close() }

// replay applies the log. It ignores a last line without a newline: its write was interrupted, so
// nothing that depends on it was queued.
func (l *gapLedger) replay(body []byte) (lines int, whole bool, err error) {
	for len(body) > 0 {
		line, rest, ended := bytes.Cut(body, []byte("\n"))
		if !ended {
			return lines, false, nil
		}
		lines++
		var entry ledgerLine
		if err := json.Unmarshal(line, &entry); err != nil {
			return lines, whole, fmt.Errorf("line %d: %w", lines, errLedgerDamaged)
		}
		l.apply(entry)
		body = rest
	}
	return lines, true, nil
}

func (l *gapLedger) apply(e ledgerLine) {
	switch {
	case e.Put != nil:
		if have := l.gaps[e.Put.GapID]; have != nil {
			e.Put.Attempts, e.Put.order = max(have.Attempts, e.Put.Attempts), have.order
		} else {
			l.next++
			e.Put.order = l.next
		}
		l.gaps[e.Put.GapID] = e.Put
	case e.Drop != "":
		delete(l.gaps, e.Drop)
	case e.Failing != nil:
		l.failing = *e.Failing
	case e.Wait != nil:
		if e.Wait.Until.After(l.waits[e.Wait.Sender]) {
			l.waits[e.Wait.Sender] = e.Wait.Until
		}
	case l.gaps[e.Attempt] != nil:
		l.gaps[e.Attempt].Attempts++
	}
}

func (l *gapLedger) rewrite(path string) error {
	var lines []ledgerLine
	for _, g := range l.inOrder() {
		lines = append(lines, ledgerLine{Put: g})
	}
	for _, sender := range slices.Sorted(maps.Keys(l.waits)) {
		lines = append(lines, ledgerLine{Wait: &wait{sender, l.waits[sender]}})
	}
	if l.failing {
		lines = append(lines, ledgerLine{Failing: &l.failing})
	}
	body, err := encodeLines(lines)
	if err != nil {
		return err
	}
	return writeFile(path, body)
}

func encodeLines(lines []ledgerLine) (body []byte, err error) {
	for _, e := range lines {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		body = append(append(body, line...), '\n')
	}
	return body, nil
}

// waitInForce is the moment before which nothing is to be asked, if there is one.
func (l *gapLedger) waitInForce(now time.Time) (until time.Time, waiting bool) {
	for _, end := range l.waits {
		if end.After(now) && end.After(until) {
			until = end
		}
	}
	return until, !until.IsZero()
}

// write makes the lines durable and then true.
func (l *gapLedger) write(lines []ledgerLine) error {
	if len(lines) == 0 {
		return nil
	}
	body, err := encodeLines(lines)
	if err != nil {
		return fmt.Errorf("encode a gap: %w", err)
	}
	if _, err := l.file.Write(body); err != nil {
		return fmt.Errorf("write the list of gaps: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("write the list of gaps: %w", err)
	}
	for _, e := range lines {
		l.apply(e)
	}
	return nil
}

// open keeps the gaps of a slice.
func (l *gapLedger) open(gaps []slice.Gap) error {
	var lines []ledgerLine
	for _, g := range gaps {
		if g.GapID == "" {
			g.GapID = gapID(g)
		}
		g.Locator = slices.Clone(g.Locator)
		lines = append(lines, ledgerLine{Put: &ledgerGap{Gap: g}})
	}
	return l.write(lines)
}

// adopt keeps gaps that the server knows of and this list does not.
func (l *gapLedger) adopt(leased []wire.LeasedGap) error {
	var unknown []slice.Gap
	for _, g := range leased {
		gap := slice.Gap{Stream: g.Stream, ParentStream: g.ParentStream, RecordKey: g.RecordKey, Locator: g.Locator,
			Reason: protocol.Reason(g.Reason), Retryable: true}
		if l.gaps[gapID(gap)] == nil {
			unknown = append(unknown, gap)
		}
	}
	return l.open(unknown)
}

// identity names a gap as the server knows it.
func (l *gapLedger) identity(id string) wire.GapIdentity {
	g := l.gaps[id]
	if g == nil {
		return wire.GapIdentity{}
	}
	return wire.GapIdentity{Stream: g.Stream, ParentStream: g.ParentStream, RecordKey: g.RecordKey, Locator: g.Locator}
}

// settle counts the attempts of a slice and forgets what it recovered.
func (l *gapLedger) settle(attempts, recovered []slice.GapRef) error {
	var lines []ledgerLine
	for _, r := range attempts {
		lines = append(lines, ledgerLine{Attempt: r.GapID})
	}
	for _, r := range recovered {
		lines = append(lines, ledgerLine{Drop: r.GapID})
	}
	return l.write(lines)
}

// gapID returns the identity of a gap. It is derived from the record key, or from the locator if the
// key is not known yet.
func gapID(g slice.Gap) string {
	parts := []string{g.Stream, g.ParentStream, g.RecordKey}
	if g.RecordKey == "" {
		parts = append(parts, string(g.Locator))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "gap_" + hex.EncodeToString(sum[:12])
}
