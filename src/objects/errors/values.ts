// Values for which texts of several pages have a hole.

/** `title`: of the resource. */
export interface Titled {
  title: string;
}

/** `id`: of the remote. */
export interface Identified {
  id: string;
}

/** `answer`: the own words of the service, or of the Kubernetes API. */
export interface Answer {
  answer: string;
}
