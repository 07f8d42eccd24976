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

// keyBytes and versionBytes are how much is kept of a digest.
const (
	keyBytes     = 12
	versionBytes = 6
)

// kept is what is remembered of an event: what it was, what it belongs to, and when it begins.
type kept struct {
	version [versionBytes]byte
	series  [versionBytes]byte
	start   int64 // seconds; noStart for what has no time
}

const noStart = int64(-1) << 62

// memory is what the bookmark holds of one feed.
type memory struct {
	Tag   string `json:"tag,omitzero"`
	Known string `json:"known,omitzero"` // packed

	things map[string]kept
}

// memoryOf reads a bookmark; one that is not ours remembers nothing.
func memoryOf(text string) *memory {
	m := &memory{things: map[string]kept{}}
	if json.Unmarshal([]byte(text), m) != nil {
		return &memory{things: map[string]kept{}}
	}
	packed, err := base64.RawStdEncoding.DecodeString(m.Known)
	const size = keyBytes + 2*versionBytes + 8
	if err != nil || len(packed)%size != 0 {
		return &memory{things: map[string]kept{}}
	}
	for ; len(packed) > 0; packed = packed[size:] {
		k := kept{start: int64(binary.BigEndian.Uint64(packed[keyBytes+2*versionBytes:]))}
		copy(k.version[:], packed[keyBytes:])
		copy(k.series[:], packed[keyBytes+versionBytes:])
		m.things[hex.EncodeToString(packed[:keyBytes])] = k
	}
	m.Known = ""
	return m
}

func (m *memory) encode() string {
	var b []byte
	for _, id := range slices.Sorted(maps.Keys(m.things)) {
		raw, err := hex.DecodeString(id)
		if err != nil || len(raw) != keyBytes {
			continue
		}
		k := m.things[id]
		b = append(append(append(b, raw...), k.version[:]...), k.series[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(k.start))
	}
	text, err := json.Marshal(memory{Tag: m.Tag, Known: base64.RawStdEncoding.EncodeToString(b)}, json.Deterministic(true))
	if err != nil {
		return "{}"
	}
	return string(text)
}

// remember says what an event is now. When it was fetched is no part of it.
func remember(t thing) kept {
	k := kept{start: startOf(t.Thing), series: digest([]byte(t.UID))}
	if data, err := json.Marshal(t.data, json.Deterministic(true)); err == nil {
		k.version = digest(data)
	}
	return k
}

func digest(data []byte) (d [versionBytes]byte) {
	sum := sha256.Sum256(data)
	copy(d[:], sum[:])
	return d
}

func startOf(t *icalendar.Thing) int64 {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, t.Start); err == nil {
			return at.Unix()
		}
	}
	return noStart
}
