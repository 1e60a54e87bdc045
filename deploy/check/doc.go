// Package check holds the tests of docker-compose.yml, the Dockerfile and the Helm chart.
// It is a module of its own, so that the libraries of Docker, Compose, Helm and Kubernetes
// stay out of Cairn's. The tests need the built command (make build); no engine and no
// cluster.
package check
