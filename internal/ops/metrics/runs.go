package metrics

import "time"

// Run is what counts of a run that is over.
type Run struct {
	Connector     string
	Trigger       string
	Status        string
	Duration      time.Duration
	GapsReported  int64
	GapsRecovered int64
	// Throttles is how often the run was slowed down. Interval is the time between
	// two requests at its end; zero when the run did not report its pace.
	Throttles int
	Interval  time.Duration
}

// runBuckets reach from a run that finds nothing new to a first one that takes a day.
var runBuckets = []float64{0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600}

func (r *Recorder) registerRuns() {
	r.runs = r.counter("runs_total", "Runs that are over.", "connector", "trigger", "status")
	r.runSeconds = r.histogram("run_duration_seconds", "How long runs took.", runBuckets, "connector")
	r.slices = r.counter("slices_committed_total", "Slices that became durable.", "connector")
	r.records = r.counter("records_committed_total", "Records that became durable, new or changed.", "connector")
	r.gapsReported = r.counter("gaps_reported_total", "Misses that runs reported.", "connector")
	r.gapsRecovered = r.counter("gaps_recovered_total", "Misses that runs made good.", "connector")
	r.throttles = r.counter("throttles_total", "Times that a run was slowed down.", "connector")
	r.interval = r.gauge("request_interval_seconds", "Time between two requests when the newest run that told ended.",
		"connector")
}

// RunEnded counts a run.
func (r *Recorder) RunEnded(run Run) {
	if r == nil {
		return
	}
	connector := r.connectors.label(run.Connector)
	r.runs.WithLabelValues(connector, triggers.label(run.Trigger), statuses.label(run.Status)).Inc()
	r.runSeconds.WithLabelValues(connector).Observe(run.Duration.Seconds())
	r.gapsReported.WithLabelValues(connector).Add(float64(max(run.GapsReported, 0)))
	r.gapsRecovered.WithLabelValues(connector).Add(float64(max(run.GapsRecovered, 0)))
	r.throttles.WithLabelValues(connector).Add(float64(max(run.Throttles, 0)))
	if run.Interval > 0 {
		r.interval.WithLabelValues(connector).Set(run.Interval.Seconds())
	}
}

// SliceCommitted counts a commit as it happens, and the records that it changed.
func (r *Recorder) SliceCommitted(connector string, records int) {
	if r == nil {
		return
	}
	connector = r.connectors.label(connector)
	r.slices.WithLabelValues(connector).Inc()
	r.records.WithLabelValues(connector).Add(float64(max(records, 0)))
}
