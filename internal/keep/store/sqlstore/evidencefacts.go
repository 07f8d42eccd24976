package sqlstore

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// measured is what a row says of a stream. A page has thousands of them, which
// are made many at a time.
type measured struct {
	retained int64
	fact     evidence.Fact
}

// factReader reads the facts of many streams. It takes members one by one,
// because decoding into a struct would cost more than reading the rows does.
type factReader struct {
	buffer  bytes.Buffer
	decoder *jsontext.Decoder
}

// read reads what a run measured; source is the time, status and id of that run,
// joined. It fails for facts that cannot be read. A count that is absent or null
// was not measured.
func (r *factReader) read(facts []byte, source string, f *evidence.Fact) bool {
	if len(source) < len(Layout) || !r.members(facts, f) {
		return false
	}
	at, err := readStamp(source[:len(Layout)])
	status, runID, _ := strings.Cut(source[len(Layout):], " ")
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
		// The name is overwritten by the next read, so its place is taken first.
		keep := factMember(string(name))
		value, err := r.decoder.ReadValue()
		if err != nil || keep != nil && !keep(f, value) {
			return false
		}
	}
	t, err := r.decoder.ReadToken()
	return err == nil && t.Kind() == '}'
}

// factMember gives what is done with a member of the facts; nil for one that is not read.
func factMember(name string) func(*evidence.Fact, jsontext.Value) bool {
	switch name {
	case `"collected"`:
		return keepCollected
	case `"considered"`:
		return keepConsidered
	case `"covered"`:
		return keepCovered
	case `"checkpoint"`:
		return keepCheckpoint
	case `"skipped"`:
		return keepSkip
	case `"answer_drift"`:
		return keepDrift
	default:
		return nil
	}
}

func keepCollected(f *evidence.Fact, v jsontext.Value) (ok bool) {
	f.Collected, ok = wholeNumber(v)
	return ok
}

func keepConsidered(f *evidence.Fact, v jsontext.Value) bool { return keepCount(&f.Considered, v) }

func keepCovered(f *evidence.Fact, v jsontext.Value) bool { return keepCount(&f.Covered, v) }

func keepCount(into **int64, v jsontext.Value) bool {
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

func keepCheckpoint(f *evidence.Fact, v jsontext.Value) bool {
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

func keepDrift(f *evidence.Fact, v jsontext.Value) bool {
	return json.Unmarshal(v, &f.Drift) == nil
}

func keepSkip(f *evidence.Fact, v jsontext.Value) bool {
	if v.Kind() == 'n' {
		f.Skip = nil
		return true
	}
	return json.Unmarshal(v, &f.Skip) == nil
}
