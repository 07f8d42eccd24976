package metrics

import "time"

// JobCount is how many jobs of a queue are in a state.
type JobCount struct {
	Queue string
	State string
	Jobs  int
}

// Pass is what one pass of the scheduler did.
type Pass struct {
	Duration time.Duration
	Looks    int // connections that it looked at
	Enqueued int // runs that it asked for
}

var (
	passBuckets = []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2, 10}
	lookBuckets = []float64{0, 1, 10, 100, 1000, 10_000}
)

func (r *Recorder) registerWork() {
	r.jobs = r.gauge("queue_jobs", "Jobs by queue and state.", "queue", "state")
	r.leases = r.gauge("leases_held", "Connections that a run holds.")
	r.leaseAge = r.gauge("lease_oldest_age_seconds", "How long the oldest held lease has been held.")
	r.passSeconds = r.histogram("scheduler_pass_duration_seconds", "How long passes of the scheduler took.",
		passBuckets).WithLabelValues()
	r.passLooks = r.histogram("scheduler_pass_looks", "Connections that a pass of the scheduler looked at.",
		lookBuckets).WithLabelValues()
	r.enqueued = r.counter("scheduler_jobs_enqueued_total", "Runs that the scheduler asked for.").WithLabelValues()
	r.pushes = r.counter("pushes_total", "Pushes by kind of target and result.", "kind", "result")
	r.pictures = r.counter("surface_pictures_total",
		"Pictures of a run's page that the owner was shown.").WithLabelValues()
	r.pictureBytes = r.counter("surface_picture_bytes_total",
		"Bytes of the pictures that the owner was shown.").WithLabelValues()
	r.inputs = r.counter("surface_inputs_total", "Inputs of the owner to a run's page.").WithLabelValues()
	r.watchSeconds = r.counter("surface_watched_seconds_total",
		"Seconds for which the owner looked at a run's page.").WithLabelValues()
}

// Jobs replaces what is known of the queues. Counts of equal labels add up.
func (r *Recorder) Jobs(counts []JobCount) {
	if r == nil {
		return
	}
	r.jobs.Reset()
	for _, c := range counts {
		r.jobs.WithLabelValues(r.queues.label(c.Queue), jobStates.label(c.State)).Add(float64(c.Jobs))
	}
}

// Leases sets the number of held leases and the age of the oldest. Before the first call both are absent, and without
// a lease the age is.
func (r *Recorder) Leases(held int, oldest time.Duration) {
	if r == nil {
		return
	}
	r.leases.WithLabelValues().Set(float64(held))
	if held == 0 {
		r.leaseAge.Reset()
		return
	}
	r.leaseAge.WithLabelValues().Set(oldest.Seconds())
}

// SchedulerPass counts a pass.
func (r *Recorder) SchedulerPass(p Pass) {
	if r == nil {
		return
	}
	r.passSeconds.Observe(p.Duration.Seconds())
	r.passLooks.Observe(float64(p.Looks))
	r.enqueued.Add(float64(max(p.Enqueued, 0)))
}

// Pushed counts a push by the kind of its target (web_push, webhook, ntfy) and
// its result (delivered, failed, retired).
func (r *Recorder) Pushed(kind, result string) {
	if r == nil {
		return
	}
	r.pushes.WithLabelValues(pushKinds.label(kind), pushResults.label(result)).Inc()
}

// SurfacePicture counts a picture of a page, and its size.
func (r *Recorder) SurfacePicture(bytes int) {
	if r == nil {
		return
	}
	r.pictures.Inc()
	r.pictureBytes.Add(float64(max(bytes, 0)))
}

// SurfaceInput counts one act of the owner on a page, whatever it was.
func (r *Recorder) SurfaceInput() {
	if r == nil {
		return
	}
	r.inputs.Inc()
}

// SurfaceWatched counts for how long the owner looked at a page.
func (r *Recorder) SurfaceWatched(d time.Duration) {
	if r == nil {
		return
	}
	r.watchSeconds.Add(max(d.Seconds(), 0))
}
