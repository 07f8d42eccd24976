package ical

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit/icalendar"
)

// eventKeyBytes and versionBytes are the stored lengths of digests.
const (
	eventKeyBytes = 12
	versionBytes  = 6
)

// rememberedEvent is the bookmark entry of an event: its version, its parent, and its start.
type rememberedEvent struct {
	version [versionBytes]byte
	series  [versionBytes]byte
	start   int64 // seconds; unknownStart for what has no time
}

const unknownStart = int64(-1) << 62

// feedMemory is what the bookmark holds of one feed.
type feedMemory struct {
	Tag   string `json:"tag,omitzero"`
	Known string `json:"known,omitzero"` // packed

	things map[string]rememberedEvent
}

// parseMemory reads a bookmark; one that is not ours remembers nothing.
func parseMemory(text string) *feedMemory {
	m := &feedMemory{things: map[string]rememberedEvent{}}
	if json.Unmarshal([]byte(text), m) != nil {
		return &feedMemory{things: map[string]rememberedEvent{}}
	}
	packed, err := base64.RawStdEncoding.DecodeString(m.Known)
	const size = eventKeyBytes + 2*versionBytes + 8
	if err != nil || len(packed)%size != 0 {
		return &feedMemory{things: map[string]rememberedEvent{}}
	}
	for ; len(packed) > 0; packed = packed[size:] {
		k := rememberedEvent{start: int64(binary.BigEndian.Uint64(packed[eventKeyBytes+2*versionBytes:]))}
		copy(k.version[:], packed[eventKeyBytes:])
		copy(k.series[:], packed[eventKeyBytes+versionBytes:])
		m.things[hex.EncodeToString(packed[:eventKeyBytes])] = k
	}
	m.Known = ""
	return m
}

func (m *feedMemory) encodeMemory() string {
	var b []byte
	for _, id := range slices.Sorted(maps.Keys(m.things)) {
		raw, err := hex.DecodeString(id)
		if err != nil || len(raw) != eventKeyBytes {
			continue
		}
		k := m.things[id]
		b = append(append(append(b, raw...), k.version[:]...), k.series[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(k.start))
	}
	text, err := json.Marshal(feedMemory{Tag: m.Tag, Known: base64.RawStdEncoding.EncodeToString(b)},
		json.Deterministic(true))
	if err != nil {
		return "{}"
	}
	return string(text)
}

// rememberEvent returns the bookmark entry of an event. The fetch time is not part of it.
func rememberEvent(t calendarThing) rememberedEvent {
	k := rememberedEvent{start: eventStart(t.CommonFields), series: contentDigest([]byte(t.UID))}
	if data, err := json.Marshal(t.data, json.Deterministic(true)); err == nil {
		k.version = contentDigest(data)
	}
	return k
}

func contentDigest(data []byte) (d [versionBytes]byte) {
	sum := sha256.Sum256(data)
	copy(d[:], sum[:])
	return d
}

func eventStart(t *icalendar.CommonFields) int64 {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, t.Start); err == nil {
			return at.Unix()
		}
	}
	return unknownStart
}
