// Package ui holds what all console pages share: the frame with its navigation, small components,
// text for times and numbers, response helpers, and static assets.
//
// A component renders its arguments. No component inspects a state or an axis: tone, label,
// channel and sentence come unchanged from the verdict.
package ui
