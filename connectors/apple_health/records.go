package applehealth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// xmlPlace is a place in the file, between two things that are collected.
type xmlPlace struct {
	Offset int64 `json:"o"`
	Count  int64 `json:"n"`
	Closed bool  `json:"c,omitzero"` // the data ended where it should
}

// health is a file being read.
type health struct {
	m       *localarchive.Member
	at      xmlPlace
	workout *workout
	key     []byte
	out     []byte
	open    bool // out is a measurement that has not ended yet
	meta    []entry
	beats   []beat
}

// entry is what an app noted of a measurement or a workout.
type entry struct{ key, value string }

// beat is one of the heart.
type beat struct {
	BPM  *float64 `json:"bpm,omitzero"`
	Time string   `json:"time,omitzero"`
}

func read(ctx context.Context, m *localarchive.Member) error {
	h := &health{m: m}
	m.State(&h.at)
	in, err := m.Open(ctx, h.at.Offset)
	if err != nil {
		return err
	}
	defer in.Close()
	begun := h.at.Offset > 0
	s := newScanner(in, h.at.Offset)
	for {
		e, err := s.next()
		switch {
		case errors.Is(err, io.EOF):
			h.closeRecord()
			if !begun {
				return localarchive.OtherKind("it is no XML")
			}
			if !h.at.Closed {
				return fmt.Errorf("%w: it ends too early", localarchive.ErrDamaged)
			}
			return nil
		case errors.Is(err, errTag):
			if begun {
				m.Row(h.at.Count, 0)
				h.at.Count++
			}
			continue
		case err != nil:
			h.closeRecord()
			return err
		}
		if !begun {
			switch string(e.name) {
			case "HealthData":
				begun = true
				continue
			case "ClinicalDocument":
				m.Skip("clinical documents")
				return nil
			}
			return localarchive.OtherKind("it begins with another element")
		}
		h.element(e)
		if h.workout != nil || h.open {
			continue
		}
		h.at.Offset = s.place()
		if err := m.Place(ctx, func() any { return h.at }); err != nil {
			return err
		}
	}
}

// element takes one tag.
func (h *health) element(e *element) {
	name := string(e.name)
	if !within(name) {
		h.closeRecord() // one that was never closed, or is closed now
	}
	switch {
	case name == "HealthData" && e.end:
		h.closeWorkout()
		h.at.Closed = true
	case name == "Record" && !e.end:
		h.record(e)
	case name == "Workout" && !e.end:
		h.closeWorkout() // one that nobody closed
		if h.workout = workoutOf(e); e.empty {
			h.closeWorkout()
		}
	case name == "Workout":
		h.closeWorkout()
	case e.end:
		if h.workout != nil && name == "WorkoutRoute" {
			h.workout.inRoute = false
		}
	case h.open && name == "MetadataEntry":
		h.meta = append(h.meta, entry{e.text("key"), e.text("value")})
	case h.open && name == "InstantaneousBeatsPerMinute":
		h.beats = append(h.beats, beat{numberOf(e.text("bpm")), e.text("time")})
	case h.workout != nil:
		h.workout.part(name, e)
	case name == "ActivitySummary":
		h.rings(e)
	default:
		if kind := leftOutKind(name); kind != "" {
			h.m.Skip(kind)
		}
	}
}

// within reports whether an element is a part of a measurement.
func within(name string) bool {
	return name == "MetadataEntry" || name == "HeartRateVariabilityMetadataList" || name == "InstantaneousBeatsPerMinute"
}

// leftOutKind names an element that is not collected; empty for one without content of its own.
func leftOutKind(name string) string {
	switch name {
	case "Me":
		return "Personal details"
	case "Correlation":
		return "Groups of measurements (their measurements are kept)"
	case "MetadataEntry", "ExportDate", "HealthData", "HeartRateVariabilityMetadataList", "InstantaneousBeatsPerMinute",
		"WorkoutEvent", "WorkoutRoute", "FileReference", "WorkoutActivity", "WorkoutStatistics":
		return "" // parts of what is counted, and the head of the file
	}
	return localfile.Short(name, 60)
}

// record brings a measurement. It is written by hand: an export has millions.
func (h *health) record(e *element) {
	h.at.Count++
	kind, start := e.raw("type"), timeOf(e.raw("startDate"))
	if len(kind) == 0 || start == "" {
		h.m.Row(h.at.Count-1, 0)
		return
	}
	value := e.raw("value")
	out := append(h.out[:0], `{"id":"`...)
	out = h.appendID(out, kind, e.raw("sourceName"), e.raw("startDate"), e.raw("endDate"), value)
	out = append(out, '"')
	out = member(out, "type", decoded(kind))
	out = member(out, "source_name", e.text("sourceName"))
	out = member(out, "source_version", e.text("sourceVersion"))
	out = member(out, "unit", e.text("unit"))
	if value != nil {
		text := decoded(value)
		if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
			out = append(out, `,"value":`...)
			out = strconv.AppendFloat(out, n, 'g', -1, 64)
		}
		out = append(out, `,"value_raw":`...)
		out = quoted(out, text)
	}
	out = append(out, `,"start_date":"`...)
	out = append(out, start...)
	out = append(out, '"')
	out = member(out, "end_date", timeOf(e.raw("endDate")))
	out = member(out, "creation_date", timeOf(e.raw("creationDate")))
	out = member(out, "device", deviceOf(e.text("device")))
	h.out, h.open = out, true
	if e.empty {
		h.closeRecord()
	}
}

// maxParts bounds what is kept of the parts of one measurement or workout.
const maxParts = 10_000

// closeRecord brings the measurement that is open, with what its parts say.
func (h *health) closeRecord() {
	if !h.open {
		return
	}
	h.open = false
	out := h.out
	if len(h.meta) > 0 {
		out = append(append(out, `,"metadata":`...), encoded(entries(h.meta))...)
	}
	if len(h.beats) > 0 {
		out = append(append(out, `,"beats":`...), encoded(h.beats[:min(len(h.beats), maxParts)])...)
	}
	out = append(out, '}')
	h.out, h.meta, h.beats = out, h.meta[:0], h.beats[:0]
	h.m.Emit("records", connectorkit.Upsert(jsontext.Value(append([]byte(nil), out...))))
}

// entries are by their keys; the first of a key counts.
func entries(list []entry) map[string]string {
	if len(list) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, e := range list[:min(len(list), maxParts)] {
		if _, met := out[e.key]; !met {
			out[e.key] = e.value
		}
	}
	return out
}

func encoded(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil { // texts and numbers that were read can be written
		return []byte("null")
	}
	return b
}

// deviceOf returns the description of a device in an export, without the place that it had in the phone's memory.
func deviceOf(text string) string {
	if rest, ok := strings.CutPrefix(text, "<<HKDevice:"); ok {
		if _, after, ok := strings.Cut(rest, ">, "); ok {
			return strings.TrimSuffix(after, ">")
		}
	}
	return text
}

func numberOf(text string) *float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil
	}
	return &n
}

// appendID is the key of a measurement: equal ones are one.
func (h *health) appendID(out []byte, parts ...[]byte) []byte {
	h.key = h.key[:0]
	for _, p := range parts {
		h.key = append(append(h.key, p...), 0)
	}
	sum := sha256.Sum256(h.key)
	return hex.AppendEncode(out, sum[:16])
}

// member adds a text, unless it is empty.
func member(out []byte, name, text string) []byte {
	if text == "" {
		return out
	}
	out = append(out, ',', '"')
	out = append(out, name...)
	out = append(out, '"', ':')
	return quoted(out, text)
}

func quoted(out []byte, text string) []byte {
	b, err := jsontext.AppendQuote(out, text)
	if err != nil { // it is valid already, but for what nobody writes
		return append(out, '"', '"')
	}
	return b
}

// timeOf reads a time as the Health app writes it: local, with the offset from UTC; empty when
// it is none. Phones with a clock of twelve hours write that too.
func timeOf(raw []byte) string {
	if len(raw) == 25 && raw[4] == '-' && raw[7] == '-' && raw[10] == ' ' && raw[13] == ':' && raw[16] == ':' && raw[19] == ' ' {
		if at, err := time.Parse("2006-01-02 15:04:05 -0700", string(raw)); err == nil && at.Year() > 0 {
			b := make([]byte, 0, 25)
			b = append(append(append(b, raw[:10]...), 'T'), raw[11:19]...)
			return string(append(append(append(b, raw[20:23]...), ':'), raw[23:25]...))
		}
	}
	text := strings.Join(strings.FieldsFunc(decoded(raw), func(r rune) bool { return r == ' ' || r == '\u202f' || r == '\u00a0' }), " ")
	for _, layout := range []string{"2006-01-02 15:04:05 -0700", "2006-01-02 3:04:05 PM -0700", "2006-01-02 3:04:05 pm -0700", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() > 0 && at.Year() < 10000 {
			return at.Format(time.RFC3339)
		}
	}
	return ""
}
