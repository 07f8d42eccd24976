package verdict

// Synthesize judges a connection. It is total: a value that the vocabulary does
// not hold is read as not known. The verdict shares memory with its input, so
// both are to be read and not written.
func Synthesize(in Input) Verdict {
	r := read(in)
	inputs := toneInputs(r)
	tone, toneCause := worstTone(inputs)
	r.tone = tone

	actions := requiredActions(r)
	channel, channelCause := routeChannel(actions)
	capped := !in.RuntimeOK && channel != Calm
	if capped {
		channel = Calm
	}

	v := Verdict{
		Pill:             Pill{Tone: tone, Label: labelOf(tone)},
		Channel:          channel,
		Annotations:      annotations(r, channel),
		ForwardStatement: forwardStatement(r, actions),
		Outline:          explain(r, actions),
		RequiredActions:  actions,
		Streams:          streamRows(r, actions),
		Progress:         progress(r),
		Detail:           detail(r, actions, capped),
	}
	v.Trace = trace(&v, inputs, toneCause, channelCause, capped)
	return v
}
