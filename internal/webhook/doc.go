// Package webhook calls the webhooks of projects: it makes the envelope of an event,
// signs it as Standard Webhooks say, sends it and reads the answer. It decides what an
// answer means for a delivery, and when the next attempt is. It knows no store and no
// workflow.
package webhook
