package connectorkit

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/answers"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// firstSamples of each store are compared, and then one in sampleInterval.
	firstSamples   = 16
	sampleInterval = 256
)

// Sample compares some of the content of one store of files with what the connector expects. A nil Sample
// compares nothing.
type Sample struct {
	compared      *answers.Comparison
	stream, store string
	met, elements int
}

// Sample returns the sample of a store with these streams, or nil if there is nothing to compare with. It is for
// one goroutine.
func (f *Push) Sample(store string, streams []string) *Sample {
	store = strings.ReplaceAll(store, " ", "_")
	s, known := f.samples[store]
	if !known {
		s = newSample(f.r, store, streams)
		f.samples[store] = s
	}
	return s
}

// Sample returns the sample of a store for a connector that reads files without a PushSource, or nil if there is
// nothing to compare with. It is for one goroutine.
func (s *Setup) Sample(store string, streams ...string) *Sample {
	return newSample(s.r, store, streams)
}

func newSample(r *runstate.Run, store string, streams []string) *Sample {
	i := slices.IndexFunc(streams, func(name string) bool { return r.Scope[name] != nil })
	if i < 0 || !r.Drift.Answers.HasStore(store) {
		return nil
	}
	return &Sample{compared: r.Drift.Answers, stream: streams[i], store: store}
}

// Listed compares how many items of a stream its source announces with how many a complete walk listed. If a
// stream has several lists, report each in every run.
func (f *Push) Listed(stream string, list protocol.AnnouncedTotal) {
	f.r.Drift.CompareTotals(stream, list)
}

// Due counts a document or line and reports whether to call Content with it.
func (s *Sample) Due() bool {
	if s == nil {
		return false
	}
	s.met++
	return s.met <= firstSamples || s.met%sampleInterval == 0 || s.compared.IsLearning()
}

// Content compares a document, a line without a name, or, if it is not whole, the beginning of a document.
func (s *Sample) Content(name string, body []byte, whole bool) {
	s.compared.Content(s.stream, s.store, answers.Content{Name: name, Body: body, Whole: whole})
}

// Element counts an element of a list in a document and compares it if it is due. The first elements are part of
// the beginning of their document.
func (s *Sample) Element(list string, element []byte) {
	if s == nil {
		return
	}
	if s.elements++; s.elements%sampleInterval == 0 || s.compared.IsLearning() {
		s.compared.Element(s.stream, s.store, list, element)
	}
}

// Tables compares the schema of a database: the declared types of columns, by table and column.
func (s *Sample) Tables(tables map[string]map[string]string) {
	s.compared.Tables(s.stream, s.store, tables)
}
