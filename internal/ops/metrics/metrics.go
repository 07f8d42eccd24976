// Package metrics counts what the running system does, for Prometheus.
//
// It is typed and closed: each event has a method, and every label has a fixed set of values. There are no labels for
// accounts, connections, streams or content. A connector that is not installed counts as "other". So the names reveal
// neither what the owner has nor how much.
//
// A nil Recorder counts nothing, for programs without a metrics endpoint.
package metrics

import (
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Config is what a Recorder is made of.
type Config struct {
	Version  string // of this program
	Revision string // of its source
	// Connectors are the names of those that are installed.
	Connectors []string
	// Queues are the names of the job queues.
	Queues []string
	// Verdicts is called by scrapes, at most every 15 seconds; nil means that this process does not report verdicts.
	Verdicts VerdictSource
	// Log receives errors of scrapes. Nil discards them.
	Log *slog.Logger
}

// Recorder keeps the counts. Its methods may be called from anywhere.
type Recorder struct {
	registry   *prometheus.Registry
	log        *slog.Logger
	connectors closedSet
	queues     closedSet

	runs          *prometheus.CounterVec
	runSeconds    *prometheus.HistogramVec
	slices        *prometheus.CounterVec
	records       *prometheus.CounterVec
	gapsReported  *prometheus.CounterVec
	gapsRecovered *prometheus.CounterVec
	throttles     *prometheus.CounterVec
	interval      *prometheus.GaugeVec

	jobs        *prometheus.GaugeVec
	leases      *prometheus.GaugeVec
	leaseAge    *prometheus.GaugeVec
	passSeconds prometheus.Observer
	passLooks   prometheus.Observer
	enqueued    prometheus.Counter
	pushes      *prometheus.CounterVec

	pictures, pictureBytes, inputs, watchSeconds prometheus.Counter
}

// New makes a recorder with a registry of its own.
func New(c Config) *Recorder {
	r := &Recorder{registry: prometheus.NewRegistry(), log: c.Log, connectors: newClosedSet(c.Connectors...),
		queues: newClosedSet(c.Queues...)}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(c),
	)
	r.registerRuns()
	r.registerWork()
	if c.Verdicts != nil {
		r.registry.MustRegister(&verdictCollector{source: c.Verdicts, log: r.log})
	}
	return r
}

func buildInfo(c Config) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "pdpp_build_info", Help: "The program that is running; always 1.",
		ConstLabels: prometheus.Labels{"version": c.Version, "revision": c.Revision},
	})
	g.Set(1)
	return g
}

// Handler answers a scrape.
func (r *Recorder) Handler() http.Handler {
	return promhttp.HandlerFor(r.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(r.log.Handler(), slog.LevelWarn),
		// What can be measured is worth more than an error about what cannot.
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
	})
}

func (r *Recorder) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pdpp_" + name, Help: help}, labels)
	r.registry.MustRegister(v)
	return v
}

func (r *Recorder) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "pdpp_" + name, Help: help}, labels)
	r.registry.MustRegister(v)
	return v
}

func (r *Recorder) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "pdpp_" + name, Help: help, Buckets: buckets}, labels)
	r.registry.MustRegister(v)
	return v
}
