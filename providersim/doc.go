// Package providersim holds the parts that every simulated provider shares:
// fault injection, request counting, signed opaque tokens, bearer
// credentials, a control port and the two loopback listeners.
//
// A provider lives in a package below this one (providersim/sample) and
// contributes its routes, its data and its error bodies. Providers with a REST
// API share package providersim/rest. A provider puts a [Gate] in
// front of its routes, asks [PageFaultFrom] how a page must misbehave, and
// implements [Provider] so that [ControlHandler] can drive it:
//
//	GET    /truth       every item that exists, by stream and key
//	GET    /stats       counters, see [Stats]
//	DELETE /stats       counters, request log and announced limits back to zero
//	GET    /requests    the latest requests, oldest first, see [Request]
//	GET    /faults      installed faults with their ids
//	POST   /faults      install one [Fault]; answers {"id":1}
//	DELETE /faults      remove all faults
//	DELETE /faults/{id} remove one fault
//	POST   /mutate      a [Mutation]; answers [Mutated]
//	POST   /token       a [TokenChange]; answers [TokenStatus]
//
// A [Fault] of the kind [Drift] changes the form of good answers: members more or less, other types,
// shorter lists, other totals. It needs nothing of a provider.
//
// A refused control request answers 400 with {"error":"<sentence>"}.
//
// Simulators start no goroutines of their own besides the listeners and wait
// only on timers, so a handler behaves well inside a testing/synctest bubble.
package providersim
