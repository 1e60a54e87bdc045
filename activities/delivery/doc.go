// Package delivery holds the activity that sends events to the webhooks of projects.
// The webhooks that are asked about a question are in package answering.
package delivery
