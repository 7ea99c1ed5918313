// Package kubernetes checks examples/kubernetes without a cluster: every manifest is
// read in strict mode into the API's own Go types (k8s.io/api, JobSet's and the
// Trainer's), the environment of each pod is composed as kubelet, JobSet and Trainer do,
// and the real launcher is run in it, also as process 1 of a pid namespace.
//
// It is a module of its own, so that the launcher's has none of these dependencies. It
// promises that no field is misspelt and that all pods of a job find the same world; it
// does not know whether a cluster admits the pods.
package kubernetes
