//! Deployments for Kubernetes.

use super::{SERVE, groups, indented, start};
use crate::plan::Plan;
use std::fmt::Write as _;

/// Settings of the deployments.
#[derive(Clone, Debug)]
pub struct KubernetesOptions {
    /// The image with vLLM in it.
    pub image: String,
    /// The namespace.
    pub namespace: String,
}

/// A deployment and a service for each group of GPUs; a pod restarts when one of its servers exits. None for a plan with
/// several phases, which needs a supervisor.
pub fn kubernetes(plan: &Plan, options: &KubernetesOptions) -> Option<String> {
    if !plan.at_once() {
        return None;
    }
    let documents: Vec<String> = groups(plan)
        .iter()
        .enumerate()
        .map(|(at, group)| {
            let name = format!("aske-fleet-{at}");
            // Inside the pod, GPUs are numbered from 0.
            let inside = |number: usize| {
                group.gpus.iter().position(|gpu| *gpu == number).unwrap_or_default().to_string()
            };
            let script = format!(
                "set -euo pipefail\nlogs=/var/log/fleet\nmkdir -p \"$logs\"\n{SERVE}{}touch /tmp/ready\nwait -n\nexit 1\n",
                start(plan, group, inside)
            );
            let ports = |indent: usize, key: &str| {
                let ports = group.servers.iter().map(|placed| plan.servers[placed.server].port);
                ports.fold(String::new(), |mut text, port| {
                    let _ = writeln!(text, "{:indent$}- {{ {key}: {port}, name: p{port} }}", "");
                    text
                })
            };
            deployment(&name, options, group.gpus.len(), &ports(12, "containerPort"), &script)
                + "---\n"
                + &service(&name, options, &ports(4, "port"))
        })
        .collect();
    Some(documents.join("---\n"))
}

fn deployment(name: &str, options: &KubernetesOptions, gpus: usize, ports: &str, script: &str) -> String {
    let KubernetesOptions { image, namespace } = options;
    let script = indented(script, 14);
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: {namespace}
spec:
  replicas: 1
  strategy: {{ type: Recreate }}
  selector: {{ matchLabels: {{ app: {name} }} }}
  template:
    metadata: {{ labels: {{ app: {name} }} }}
    spec:
      containers:
        - name: vllm
          image: {image}
          command: [bash, -c]
          args:
            - |
{script}          ports:
{ports}          readinessProbe: {{ exec: {{ command: [test, -f, /tmp/ready] }}, periodSeconds: 10 }}
          env:
            - name: HF_TOKEN
              valueFrom: {{ secretKeyRef: {{ name: hf-token, key: token, optional: true }} }}
          resources: {{ limits: {{ nvidia.com/gpu: {gpus} }} }}
          volumeMounts:
            - {{ name: shm, mountPath: /dev/shm }}
            - {{ name: models, mountPath: /root/.cache/huggingface }}
      volumes:
        - {{ name: shm, emptyDir: {{ medium: Memory }} }}
        # Use a persistent volume claim to keep downloads when the pod moves.
        - {{ name: models, emptyDir: {{}} }}
"
    )
}

fn service(name: &str, options: &KubernetesOptions, ports: &str) -> String {
    let namespace = &options.namespace;
    format!(
        "apiVersion: v1
kind: Service
metadata:
  name: {name}
  namespace: {namespace}
spec:
  selector: {{ app: {name} }}
  ports:
{ports}"
    )
}
