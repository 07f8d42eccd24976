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

// xmlPosition is a place in the file, between two things that are collected.
type xmlPosition struct {
	Offset int64 `json:"o"`
	Count  int64 `json:"n"`
	Closed bool  `json:"c,omitzero"` // the data ended where it should
}

// exportReader is a file being read.
type exportReader struct {
	m       *localarchive.Member
	at      xmlPosition
	workout *openWorkout
	key     []byte
	out     []byte
	open    bool // out is a measurement that has not ended yet
	meta    []metadataEntry
	beats   []heartBeat
}

// metadataEntry is what an app noted of a measurement or a workout.
type metadataEntry struct{ key, value string }

// heartBeat is one of the heart.
type heartBeat struct {
	BPM  *float64 `json:"bpm,omitzero"`
	Time string   `json:"time,omitzero"`
}

func readExport(ctx context.Context, m *localarchive.Member) error {
	h := &exportReader{m: m}
	m.State(&h.at)
	in, err := m.Open(ctx, h.at.Offset)
	if err != nil {
		return err
	}
	defer in.Close()
	begun := h.at.Offset > 0
	s := newScanner(in, h.at.Offset)
	for {
		e, err := s.nextTag()
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
		case errors.Is(err, errUnreadableTag):
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
		h.handleElement(e)
		if h.workout != nil || h.open {
			continue
		}
		h.at.Offset = s.tagOffset()
		if err := m.Place(ctx, func() any { return h.at }); err != nil {
			return err
		}
	}
}

// handleElement processes one tag.
func (h *exportReader) handleElement(e *xmlElement) {
	name := string(e.name)
	if !isRecordPart(name) {
		h.closeRecord() // one that was never closed, or is closed now
	}
	switch {
	case name == "HealthData" && e.end:
		h.closeWorkout()
		h.at.Closed = true
	case name == "Record" && !e.end:
		h.emitRecord(e)
	case name == "Workout" && !e.end:
		h.closeWorkout() // the file never closes it
		if h.workout = newOpenWorkout(e); e.empty {
			h.closeWorkout()
		}
	case name == "Workout":
		h.closeWorkout()
	case e.end:
		if h.workout != nil && name == "WorkoutRoute" {
			h.workout.inRoute = false
		}
	case h.open && name == "MetadataEntry":
		h.meta = append(h.meta, metadataEntry{e.attributeText("key"), e.attributeText("value")})
	case h.open && name == "InstantaneousBeatsPerMinute":
		h.beats = append(h.beats, heartBeat{parseNumber(e.attributeText("bpm")), e.attributeText("time")})
	case h.workout != nil:
		h.workout.addWorkoutPart(name, e)
	case name == "ActivitySummary":
		h.emitActivityRing(e)
	default:
		if kind := leftOutKind(name); kind != "" {
			h.m.Skip(kind)
		}
	}
}

// isRecordPart reports whether an element is a part of a measurement.
func isRecordPart(name string) bool {
	return name == "MetadataEntry" || name == "HeartRateVariabilityMetadataList" || name == "InstantaneousBeatsPerMinute"
}

// leftOutKind names an element that is not collected; empty for an element without content.
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
	return localfile.ShortText(name, 60)
}

// emitRecord emits a measurement. It encodes the record by hand, because an export has millions.
func (h *exportReader) emitRecord(e *xmlElement) {
	h.at.Count++
	kind, start := e.rawAttribute("type"), parseExportTime(e.rawAttribute("startDate"))
	if len(kind) == 0 || start == "" {
		h.m.Row(h.at.Count-1, 0)
		return
	}
	value := e.rawAttribute("value")
	out := append(h.out[:0], `{"id":"`...)
	out = h.appendRecordID(out, kind, e.rawAttribute("sourceName"), e.rawAttribute("startDate"), e.rawAttribute("endDate"),
		value)
	out = append(out, '"')
	out = appendMember(out, "type", decodeEntities(kind))
	out = appendMember(out, "source_name", e.attributeText("sourceName"))
	out = appendMember(out, "source_version", e.attributeText("sourceVersion"))
	out = appendMember(out, "unit", e.attributeText("unit"))
	if value != nil {
		text := decodeEntities(value)
		if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
			out = append(out, `,"value":`...)
			out = strconv.AppendFloat(out, n, 'g', -1, 64)
		}
		out = append(out, `,"value_raw":`...)
		out = appendQuoted(out, text)
	}
	out = append(out, `,"start_date":"`...)
	out = append(out, start...)
	out = append(out, '"')
	out = appendMember(out, "end_date", parseExportTime(e.rawAttribute("endDate")))
	out = appendMember(out, "creation_date", parseExportTime(e.rawAttribute("creationDate")))
	out = appendMember(out, "device", deviceDescription(e.attributeText("device")))
	h.out, h.open = out, true
	if e.empty {
		h.closeRecord()
	}
}

// maxRecordParts bounds the stored parts of one measurement or workout.
const maxRecordParts = 10_000

// closeRecord emits the open measurement together with its parts.
func (h *exportReader) closeRecord() {
	if !h.open {
		return
	}
	h.open = false
	out := h.out
	if len(h.meta) > 0 {
		out = append(append(out, `,"metadata":`...), encodeJSON(metadataByKey(h.meta))...)
	}
	if len(h.beats) > 0 {
		out = append(append(out, `,"beats":`...), encodeJSON(h.beats[:min(len(h.beats), maxRecordParts)])...)
	}
	out = append(out, '}')
	h.out, h.meta, h.beats = out, h.meta[:0], h.beats[:0]
	h.m.Emit("records", connectorkit.Upsert(jsontext.Value(append([]byte(nil), out...))))
}

// metadataByKey are by their keys; the first of a key counts.
func metadataByKey(list []metadataEntry) map[string]string {
	if len(list) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, e := range list[:min(len(list), maxRecordParts)] {
		if _, met := out[e.key]; !met {
			out[e.key] = e.value
		}
	}
	return out
}

func encodeJSON(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil { // texts and numbers that were read can be written
		return []byte("null")
	}
	return b
}

// deviceDescription returns the description of a device in an export, without the place that it had in the phone's
// memory.
func deviceDescription(text string) string {
	if rest, ok := strings.CutPrefix(text, "<<HKDevice:"); ok {
		if _, after, ok := strings.Cut(rest, ">, "); ok {
			return strings.TrimSuffix(after, ">")
		}
	}
	return text
}

func parseNumber(text string) *float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil
	}
	return &n
}

// appendRecordID is the key of a measurement: equal ones are one.
func (h *exportReader) appendRecordID(out []byte, parts ...[]byte) []byte {
	h.key = h.key[:0]
	for _, p := range parts {
		h.key = append(append(h.key, p...), 0)
	}
	sum := sha256.Sum256(h.key)
	return hex.AppendEncode(out, sum[:16])
}

// appendMember adds a text, unless it is empty.
func appendMember(out []byte, name, text string) []byte {
	if text == "" {
		return out
	}
	out = append(out, ',', '"')
	out = append(out, name...)
	out = append(out, '"', ':')
	return appendQuoted(out, text)
}

func appendQuoted(out []byte, text string) []byte {
	b, err := jsontext.AppendQuote(out, text)
	if err != nil { // it is valid already, except for invalid input
		return append(out, '"', '"')
	}
	return b
}

// parseExportTime parses a time in the format of the Health app: local, with the offset from UTC. It returns an empty
// text for an invalid time. Phones with a twelve-hour clock write AM and PM.
func parseExportTime(raw []byte) string {
	if len(raw) == 25 && raw[4] == '-' && raw[7] == '-' && raw[10] == ' ' && raw[13] == ':' && raw[16] == ':' &&
		raw[19] == ' ' {
		if at, err := time.Parse("2006-01-02 15:04:05 -0700", string(raw)); err == nil && at.Year() > 0 {
			b := make([]byte, 0, 25)
			b = append(append(append(b, raw[:10]...), 'T'), raw[11:19]...)
			return string(append(append(append(b, raw[20:23]...), ':'), raw[23:25]...))
		}
	}
	text := strings.Join(strings.FieldsFunc(decodeEntities(raw),
		func(r rune) bool { return r == ' ' || r == '\u202f' || r == '\u00a0' }), " ")
	for _, layout := range []string{"2006-01-02 15:04:05 -0700", "2006-01-02 3:04:05 PM -0700",
		"2006-01-02 3:04:05 pm -0700", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() > 0 && at.Year() < 10000 {
			return at.Format(time.RFC3339)
		}
	}
	return ""
}
