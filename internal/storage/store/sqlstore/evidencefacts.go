package sqlstore

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// measuredFacts are the facts of a stream in a row. A page has thousands, which are allocated in blocks.
type measuredFacts struct {
	retained int64
	fact     evidence.Fact
}

// factReader parses the facts of many streams. It reads members one by one, because decoding into a struct would cost
// more than reading the rows.
type factReader struct {
	buffer  bytes.Buffer
	decoder *jsontext.Decoder
}

// read parses what a run measured; source is the time, status and id of that run, joined. It reports whether the
// facts are readable. A missing or null count was not measured.
func (r *factReader) read(facts []byte, source string, f *evidence.Fact) bool {
	if len(source) < len(TimeLayout) || !r.members(facts, f) {
		return false
	}
	at, err := parseTime(source[:len(TimeLayout)])
	status, runID, _ := strings.Cut(source[len(TimeLayout):], " ")
	f.RunID, f.RunStatus, f.At = runID, evidence.RunStatus(status), at
	return err == nil
}

func (r *factReader) members(facts []byte, f *evidence.Fact) bool {
	r.buffer = *bytes.NewBuffer(facts)
	if r.decoder == nil {
		r.decoder = jsontext.NewDecoder(&r.buffer, jsontext.AllowDuplicateNames(true))
	} else {
		r.decoder.Reset(&r.buffer, jsontext.AllowDuplicateNames(true))
	}
	if t, err := r.decoder.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for r.decoder.PeekKind() == '"' {
		name, err := r.decoder.ReadValue()
		if err != nil {
			return false
		}
		// The next read overwrites the name, so its function is looked up first.
		keep := factMember(string(name))
		value, err := r.decoder.ReadValue()
		if err != nil || keep != nil && !keep(f, value) {
			return false
		}
	}
	t, err := r.decoder.ReadToken()
	return err == nil && t.Kind() == '}'
}

// factMember returns the function that stores a member of the facts, or nil for a member that is not used.
func factMember(name string) func(*evidence.Fact, jsontext.Value) bool {
	switch name {
	case `"collected"`:
		return setCollected
	case `"considered"`:
		return setConsidered
	case `"covered"`:
		return setCovered
	case `"checkpoint"`:
		return setCheckpoint
	case `"skipped"`:
		return setSkip
	case `"answer_drift"`:
		return setDrift
	default:
		return nil
	}
}

func setCollected(f *evidence.Fact, v jsontext.Value) (ok bool) {
	f.Collected, ok = wholeNumber(v)
	return ok
}

func setConsidered(f *evidence.Fact, v jsontext.Value) bool { return setCount(&f.Considered, v) }

func setCovered(f *evidence.Fact, v jsontext.Value) bool { return setCount(&f.Covered, v) }

func setCount(into **int64, v jsontext.Value) bool {
	if v.Kind() == 'n' {
		*into = nil
		return true
	}
	n, ok := wholeNumber(v)
	*into = &n
	return ok
}

func wholeNumber(v jsontext.Value) (int64, bool) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil
}

func setCheckpoint(f *evidence.Fact, v jsontext.Value) bool {
	switch string(v) {
	case `"committed"`:
		f.Checkpoint = evidence.CheckpointCommitted
	case `"withheld"`:
		f.Checkpoint = evidence.CheckpointWithheld
	default:
		return json.Unmarshal(v, &f.Checkpoint) == nil
	}
	return true
}

func setDrift(f *evidence.Fact, v jsontext.Value) bool {
	return json.Unmarshal(v, &f.Drift) == nil
}

func setSkip(f *evidence.Fact, v jsontext.Value) bool {
	if v.Kind() == 'n' {
		f.Skip = nil
		return true
	}
	return json.Unmarshal(v, &f.Skip) == nil
}
